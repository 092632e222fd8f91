/* The machine's own switch. The portable one and the sanitizers' is in rt_coroutine_portable.c. */
#include "rt_coroutine.h"

#ifndef RT_COROUTINE_UCONTEXT

#if defined(__CET__) && (__CET__ & 2)
#error "build rt_coroutine.c with -fcf-protection=none, or everything with RT_COROUTINE_UCONTEXT"
#endif

/* Saves what a called function must preserve on the running stack, notes where in *save, and goes on with
 * what was saved at `load`. Returns `message` there. */
void *rt_coroutine_exchange(void **save, void *load, void *message);
/* Where a new coroutine begins: calls the entry with its argument and the message. */
void rt_coroutine_begin(void);

/* The way back is a jump and no return: the processor predicts a return by the stack that it left. At the
 * beginning of a coroutine the caller is marked as unknown, so that a debugger's backtrace ends there. */
#if defined(__x86_64__)

#define FRAME_BYTES 64u /* control, r12, r13, r14, r15, rbx, rbp, where to go on */

__asm__(".text\n"
        ".p2align 4\n"
        ".globl rt_coroutine_exchange\n"
        ".hidden rt_coroutine_exchange\n"
        ".type rt_coroutine_exchange, @function\n"
        "rt_coroutine_exchange:\n"
        "    .cfi_startproc\n"
        "    leaq -56(%rsp), %rsp\n"
        "    .cfi_adjust_cfa_offset 56\n"
        "    stmxcsr (%rsp)\n"
        "    fnstcw 4(%rsp)\n"
        "    movq %r12, 8(%rsp)\n"
        "    movq %r13, 16(%rsp)\n"
        "    movq %r14, 24(%rsp)\n"
        "    movq %r15, 32(%rsp)\n"
        "    movq %rbx, 40(%rsp)\n"
        "    movq %rbp, 48(%rsp)\n"
        "    .cfi_rel_offset %r12, 8\n"
        "    .cfi_rel_offset %r13, 16\n"
        "    .cfi_rel_offset %r14, 24\n"
        "    .cfi_rel_offset %r15, 32\n"
        "    .cfi_rel_offset %rbx, 40\n"
        "    .cfi_rel_offset %rbp, 48\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    movq 56(%rsp), %rcx\n"
        "    ldmxcsr (%rsp)\n"
        "    fldcw 4(%rsp)\n"
        "    movq 8(%rsp), %r12\n"
        "    movq 16(%rsp), %r13\n"
        "    movq 24(%rsp), %r14\n"
        "    movq 32(%rsp), %r15\n"
        "    movq 40(%rsp), %rbx\n"
        "    movq 48(%rsp), %rbp\n"
        "    movq %rdx, %rax\n"
        "    leaq 64(%rsp), %rsp\n"
        "    .cfi_def_cfa_offset 0\n"
        "    .cfi_register %rip, %rcx\n"
        "    jmp *%rcx\n"
        "    .cfi_endproc\n"
        ".size rt_coroutine_exchange, .-rt_coroutine_exchange\n"
        ".p2align 4\n"
        ".globl rt_coroutine_begin\n"
        ".hidden rt_coroutine_begin\n"
        ".type rt_coroutine_begin, @function\n"
        "rt_coroutine_begin:\n"
        "    .cfi_startproc\n"
        "    .cfi_undefined %rip\n"
        "    movq %r13, %rdi\n"
        "    movq %rax, %rsi\n"
        "    callq *%r12\n"
        "    ud2\n"
        "    .cfi_endproc\n"
        ".size rt_coroutine_begin, .-rt_coroutine_begin\n");

static void fill_frame(uint64_t *frame, rt_coroutine_entry entry, void *argument) {
    frame[0] = UINT64_C(0x037f) << 32 | 0x1f80; /* x87 and SSE: all exceptions masked, nearest, as at start */
    frame[1] = (uint64_t)(uintptr_t)entry;
    frame[2] = (uint64_t)(uintptr_t)argument;
    frame[6] = 0; /* rbp: the end of the chain of frames */
    frame[7] = (uint64_t)(uintptr_t)rt_coroutine_begin;
}

#else /* AArch64 */

#define FRAME_BYTES 176u /* x19 .. x30, d8 .. d15, fpcr */

__asm__(".text\n"
        ".p2align 4\n"
        ".globl rt_coroutine_exchange\n"
        ".hidden rt_coroutine_exchange\n"
        ".type rt_coroutine_exchange, %function\n"
        "rt_coroutine_exchange:\n"
        "    .cfi_startproc\n"
        "    sub sp, sp, #176\n"
        "    .cfi_adjust_cfa_offset 176\n"
        "    stp x19, x20, [sp, #0]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    .cfi_rel_offset x19, 0\n"
        "    .cfi_rel_offset x20, 8\n"
        "    .cfi_rel_offset x29, 80\n"
        "    .cfi_rel_offset x30, 88\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mrs x3, fpcr\n"
        "    str x3, [sp, #160]\n"
        "    mov x4, sp\n"
        "    str x4, [x0]\n"
        "    mov sp, x1\n"
        "    ldr x5, [sp, #160]\n"
        "    ldp x19, x20, [sp, #0]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    cmp x3, x5\n"
        "    b.eq 1f\n" /* writing fpcr is slow, and it is nearly always the same */
        "    msr fpcr, x5\n"
        "1:  add sp, sp, #176\n"
        "    .cfi_def_cfa_offset 0\n"
        "    mov x0, x2\n"
#if defined(__ARM_FEATURE_BTI_DEFAULT)
        "    ret x30\n" /* a jump to a place after a call is forbidden there */
#else
        "    br x30\n"
#endif
        "    .cfi_endproc\n"
        ".size rt_coroutine_exchange, .-rt_coroutine_exchange\n"
        ".p2align 4\n"
        ".globl rt_coroutine_begin\n"
        ".hidden rt_coroutine_begin\n"
        ".type rt_coroutine_begin, %function\n"
        "rt_coroutine_begin:\n"
        "    .cfi_startproc\n"
        "    .cfi_undefined x30\n"
        "    mov x1, x0\n"
        "    mov x0, x20\n"
        "    blr x19\n"
        "    brk #1\n"
        "    .cfi_endproc\n"
        ".size rt_coroutine_begin, .-rt_coroutine_begin\n");

static void fill_frame(uint64_t *frame, rt_coroutine_entry entry, void *argument) {
    frame[0] = (uint64_t)(uintptr_t)entry;
    frame[1] = (uint64_t)(uintptr_t)argument;
    frame[10] = 0; /* x29: the end of the chain of frames */
    frame[11] = (uint64_t)(uintptr_t)rt_coroutine_begin;
    frame[20] = 0; /* fpcr: nearest, no traps, as at start */
}

#endif

rt_coroutine *rt_coroutine_make(rt_stack *stack, rt_coroutine_entry entry, void *argument) {
    const uintptr_t top = ((uintptr_t)stack->low + stack->bytes - sizeof(rt_coroutine)) & ~(uintptr_t)63;
    rt_coroutine *const self = (rt_coroutine *)top;
    self->stack = stack;
    self->stack_pointer = (void *)(top - FRAME_BYTES);
    fill_frame(self->stack_pointer, entry, argument);
    return self;
}

void rt_coroutine_adopt(rt_coroutine *self) {
    self->stack = NULL;
    self->stack_pointer = NULL;
}

void *rt_coroutine_switch(rt_coroutine *from, rt_coroutine *to, void *message) {
    return rt_coroutine_exchange(&from->stack_pointer, to->stack_pointer, message);
}

void rt_coroutine_leave(rt_coroutine *from, rt_coroutine *to, void *message) {
    rt_coroutine_exchange(&from->stack_pointer, to->stack_pointer, message);
    __builtin_trap(); /* it was resumed all the same */
}

rt_stack *rt_coroutine_drop(rt_coroutine *self) { return self->stack; }

#endif
