/* A task in flight, in 116 bytes of three arrays with one number for all: what it is (rt_sim_slot), its place in
 * the event queue or in a line (rt_sim_link), its place in a prefix cache (rt_sim_entry). A walk along a list
 * touches the small one alone. The same numbers name what only has a time in the event queue (the next arrival,
 * the wake of a line) and the prefixes that tasks share. */
#ifndef RT_SIM_SLOT_H
#define RT_SIM_SLOT_H

#include <stdint.h>

#define RT_SIM_NO_SLOT UINT32_MAX
#define RT_SIM_MODEL_OPERATION UINT16_MAX /* slot.use of a model call */
#define RT_SIM_LAYERS 3

typedef enum rt_sim_state {
    RT_SIM_STATE_FREE,
    RT_SIM_STATE_ARRIVAL, /* becomes a task at its time */
    RT_SIM_STATE_WAKE,    /* of the line of gate `origin` */
    RT_SIM_STATE_EVENT,   /* scenario.events[origin]; begins */
    RT_SIM_STATE_TIMELINE,
    RT_SIM_STATE_QUEUED,  /* waits for a worker slot */
    RT_SIM_STATE_LINE,    /* waits at a gate */
    RT_SIM_STATE_PREFILL, /* the provider reads the prompt (KV memory with preemption only) */
    RT_SIM_STATE_CALL,    /* a model or tool call is on its way */
    RT_SIM_STATE_BACKOFF
} rt_sim_state;

enum { RT_SIM_FLAG_TRACED = 1, RT_SIM_FLAG_KV_WHOLE = 2, RT_SIM_FLAG_EFFORT = 4, RT_SIM_FLAG_USER = 8 };

typedef struct rt_sim_slot {
    uint64_t arrived_ns;
    uint64_t cost_pusd;
    uint32_t task;         /* number */
    uint32_t origin;       /* class or recorded task */
    uint32_t fixed_tokens; /* system + tools + documents + user */
    uint32_t shared_tokens;
    uint32_t transcript_tokens;
    uint32_t prompt_tokens, cached_tokens, output_tokens; /* of the operation */
    uint32_t tokens_input, tokens_cached, tokens_output;  /* of the task so far */
    uint32_t state : 4;
    uint32_t flags : 5;
    uint32_t outcome : 3; /* of the call that is on its way, decided when it starts */
    uint32_t tenant : 10;
    uint32_t model : 10;
    uint16_t logical;
    uint16_t steps, step;
    uint16_t use, repeat;         /* which operation of the step */
    uint16_t degraded;            /* bit d: degradation d */
    uint8_t tries[RT_SIM_LAYERS]; /* further attempts of each layer */
} rt_sim_slot;

typedef struct rt_sim_link {
    uint64_t at_ns;    /* of its event; while it waits: since when */
    uint64_t sequence; /* order of events of one time */
    uint32_t next;     /* in the event queue, a line or the free list; it is in one of them at most */
    uint32_t attempts; /* of the task so far; here, where there is room */
} rt_sim_link;

typedef struct rt_sim_entry {
    uint32_t before, after;
    uint32_t tokens : 26; /* 0: in no cache */
    uint32_t gate : 6;
} rt_sim_entry;

#define RT_SIM_PROMPT_MAX ((UINT32_C(1) << 26) - 1u)

_Static_assert(sizeof(rt_sim_slot) + sizeof(rt_sim_link) + sizeof(rt_sim_entry) <= 116,
               "the buckets of the event queue take four bytes more");

#endif
