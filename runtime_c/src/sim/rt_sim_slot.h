/* A task in flight, in 120 bytes. The same shape serves what only has a time in the event queue (the next arrival,
 * the wake of a line) and the entries of the prefix caches, so that one number names any of them. */
#ifndef RT_SIM_SLOT_H
#define RT_SIM_SLOT_H

#include <stdint.h>

#define RT_SIM_NO_SLOT UINT32_MAX
#define RT_SIM_MODEL_OPERATION UINT16_MAX /* slot.use of a model call */
#define RT_SIM_LAYERS 3

typedef enum rt_sim_state {
    RT_SIM_STATE_FREE,
    RT_SIM_STATE_ARRIVAL,  /* becomes a task at its time */
    RT_SIM_STATE_WAKE,     /* of the line of gate `origin` */
    RT_SIM_STATE_EVENT,    /* scenario.events[origin]; begins */
    RT_SIM_STATE_TIMELINE,
    RT_SIM_STATE_PREFIX,   /* an entry of a prefix cache */
    RT_SIM_STATE_QUEUED,   /* waits for a worker slot */
    RT_SIM_STATE_LINE,     /* waits at a gate */
    RT_SIM_STATE_PREFILL,  /* the provider reads the prompt (KV memory with preemption only) */
    RT_SIM_STATE_CALL,     /* a model or tool call is on its way */
    RT_SIM_STATE_BACKOFF
} rt_sim_state;

enum { RT_SIM_FLAG_TRACED = 1, RT_SIM_FLAG_KV_WHOLE = 2, RT_SIM_FLAG_EFFORT = 4, RT_SIM_FLAG_UNPRICED = 8 };

typedef struct rt_sim_slot {
    uint64_t at_ns;       /* of its event; while it waits: since when */
    uint64_t sequence;    /* order of events of one time */
    uint64_t arrived_ns;
    uint64_t cost_pusd;
    uint32_t next;        /* in the event queue, a line or the free list; it is in one of them at most */
    uint32_t task;        /* number */
    uint32_t origin;      /* class or recorded task */
    uint32_t lru_before, lru_after, lru_tokens; /* its transcript in the prefix cache of lru_gate; 0 tokens: in none */
    uint32_t fixed_tokens; /* system + tools + documents + user */
    uint32_t shared_tokens;
    uint32_t transcript_tokens;
    uint32_t prompt_tokens, cached_tokens, output_tokens; /* of the operation */
    uint32_t tokens_input, tokens_cached, tokens_output;  /* of the task so far */
    uint32_t attempts;
    uint16_t logical;
    uint16_t steps, step;
    uint16_t tenant;
    uint16_t model;
    uint16_t use, repeat; /* which operation of the step */
    uint16_t degraded;    /* bit d: degradation d */
    uint8_t lru_gate;
    uint8_t state;
    uint8_t flags;
    uint8_t outcome;             /* of the call that is on its way, decided when it starts */
    uint8_t tries[RT_SIM_LAYERS]; /* further attempts of each layer */
} rt_sim_slot;

_Static_assert(sizeof(rt_sim_slot) <= 120, "the event queue and the rest share 8 bytes a task");

#endif
