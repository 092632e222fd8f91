/* The public face of the simulator: a system of agents under load, in virtual time.
 *
 *     rt_sim_scenario scenario = {...};       // integers and tables, compiled by the caller
 *     rt_sim *sim;
 *     char message[RT_SIM_MESSAGE_BYTES];
 *     if (rt_sim_create(&scenario, &sim, message, sizeof message) != 0) { ... }
 *     rt_sim_execute(sim, message, sizeof message);
 *     puts(rt_sim_record(sim));
 *     rt_sim_destroy(sim);
 *
 * Time is a count of nanoseconds from the start of the run, tokens and calls are counts, money is in 10^-12 USD,
 * a probability is a threshold of 2^32 (an event of probability p has round(p * 2^32); 2^32 is certain). There is no
 * floating point before the record is written, and events of one time run in the order in which they were planned:
 * one scenario gives one record, byte for byte, on every machine.
 *
 * What a task draws depends on (seed, number of the task, purpose) alone, not on what happens to it: the same task
 * wants the same steps and tokens at every load. Divisions round down unless said otherwise.
 *
 * What is simplified, for whoever prints assumptions: the tool calls of a step run one after another; a call that
 * failed or timed out is not billed (its tokens are counted as wasted); KV memory holds the prompt and output of each
 * call while it runs, whatever it shares with others; the transcript of a task leaves the prefix cache when the task
 * ends; a retry repeats the operation, not the task; calls on their way when an outage begins still end well.
 *
 * Limits that are not known are 0, which here means that nothing bounds it; the caller reports them.
 * The declarations between the two marks are also what cffi compiles: they must stay free of macros. */
#ifndef TALLYMARK_SIMULATOR_H
#define TALLYMARK_SIMULATOR_H

#include <stddef.h>
#include <stdint.h>

#define RT_SIM_MESSAGE_BYTES 256
#define RT_SIM_NONE UINT32_MAX

/* cffi:begin */
typedef struct rt_sim rt_sim;

typedef enum rt_sim_constant {
    RT_SIM_SAMPLES = 0,     /* one of `values`, each as likely; a constant is one sample */
    RT_SIM_QUANTILES = 1,   /* value k of n is the k/(n-1) quantile; linear between them */
    RT_SIM_EXPONENTIAL = 2, /* values[0] is the mean, rounded down */
    RT_SIM_WEIGHTED = 3,    /* count values, then count cumulated thresholds, ascending, the last 2^32 */

    RT_SIM_POISSON = 0, /* arrivals: exponential gaps of mean gap_ns */
    RT_SIM_CONSTANT = 1,
    RT_SIM_RECORDED = 2, /* at times_ns */
    RT_SIM_BURST = 3,    /* burst_tasks at once, every gap_ns */
    RT_SIM_CLOSED = 4,   /* in_flight tasks at 0; each one that ends is followed by another after think */

    RT_SIM_FIFO = 0, /* slots */
    RT_SIM_PRIORITY = 1,
    RT_SIM_FAIR = 2,

    RT_SIM_WAIT = 0,   /* a call that a limit stops waits in line */
    RT_SIM_REJECT = 1, /* ... is answered 429 */

    RT_SIM_QUEUE = 0,   /* KV memory: a call starts when its prompt and output fit */
    RT_SIM_PREEMPT = 1, /* ... its prompt fits; if its output does not, it starts again */

    RT_SIM_ON_429 = 1, /* what a layer tries again, added together */
    RT_SIM_ON_ERROR = 2,
    RT_SIM_ON_TIMEOUT = 4,
    RT_SIM_ON_BREAKER = 8,
    RT_SIM_MODEL_CALLS = 1, /* which operations a layer stands around, added together */
    RT_SIM_TOOL_CALLS = 2,
    RT_SIM_BACKOFF_NONE = 0,
    RT_SIM_BACKOFF_FIXED = 1,
    RT_SIM_BACKOFF_EXPONENTIAL = 2,

    RT_SIM_FALLBACK_MODEL = 0, /* degradations */
    RT_SIM_TRUNCATE_CONTEXT = 1,
    RT_SIM_LOWER_EFFORT = 2,
    RT_SIM_DROP_RETRY = 3,
    RT_SIM_SHED = 4,
    RT_SIM_QUEUE_AGE = 0,      /* the oldest that waits for a slot has waited threshold ns */
    RT_SIM_QUEUE_DEPTH = 1,    /* at least threshold tasks wait for a slot */
    RT_SIM_HEADROOM_BELOW = 2, /* less than threshold permille of the provider's tokens a minute is left */
    RT_SIM_CONTEXT_ABOVE = 3,  /* the prompt has more than threshold tokens */

    RT_SIM_INVALIDATE_CACHES = 0, /* events; of one provider, or of all when dependency is UINT32_MAX */
    RT_SIM_OUTAGE_PROVIDER = 1,   /* every call that starts within for_ns ends in an error */
    RT_SIM_OUTAGE_TOOL = 2,

    RT_SIM_FINISHED = 0, /* outcome of a task: all of its steps were done */
    RT_SIM_FAILED = 1,
    RT_SIM_SHED_TASK = 2,
    RT_SIM_UNFINISHED = 3,

    RT_SIM_CALL_OK = 0, /* outcome of a call */
    RT_SIM_CALL_429 = 1,
    RT_SIM_CALL_ERROR = 2,
    RT_SIM_CALL_TIMEOUT = 4,
    RT_SIM_CALL_BREAKER = 8, /* not sent: the circuit breaker is open */
    RT_SIM_CALL_PREEMPTED = 16,
    RT_SIM_CALL_REFUSED = 32, /* larger than the context or a whole quota: never sent */

    RT_SIM_SPAN_TASK = 0,
    RT_SIM_SPAN_MODEL = 1,
    RT_SIM_SPAN_TOOL = 2
} rt_sim_constant;

/* A part of scenario.values. */
typedef struct rt_sim_distribution {
    uint32_t kind; /* RT_SIM_SAMPLES, _QUANTILES, _EXPONENTIAL or _WEIGHTED */
    uint32_t first;
    uint32_t count;
} rt_sim_distribution;

typedef struct rt_sim_tenant {
    const char *name;
    uint64_t share;    /* relative to the other tenants; the sum is below 2^32 */
    uint32_t priority; /* 0 is first; at most 15 */
    uint32_t weight;   /* of fair share, 1 .. 2^20 */
} rt_sim_tenant;

typedef struct rt_sim_provider {
    const char *name;
    uint64_t tokens_per_min; /* 0: no limit. The bucket holds one minute and starts full */
    uint64_t requests_per_min;
    uint32_t concurrency;
    uint32_t overflow;           /* RT_SIM_WAIT or RT_SIM_REJECT; KV memory always waits */
    uint32_t reserve_max_tokens; /* 1: a call takes max_output_tokens, the rest comes back */
    uint32_t count_cached;       /* 1: cached input counts against tokens_per_min */
    uint64_t retry_after_ns;     /* least pause after a 429 */
    uint64_t kv_tokens;          /* 0: no limit */
    uint32_t kv_policy;          /* RT_SIM_QUEUE or RT_SIM_PREEMPT */
    uint64_t cache_tokens;       /* of the prefix cache, least recently used leaves first; 0: no cache */
    uint64_t error;              /* probability that a call fails, 0 .. 2^32 */
    uint64_t timeout_ns;         /* the caller gives up after so long; 0: never */
} rt_sim_provider;

/* latency = (base + uncached input + output) * (1 + load_slope_permille / 1000 * in flight / load_reference), where
 * in flight counts the provider's calls with this one. */
typedef struct rt_sim_model {
    const char *name;
    uint32_t provider;
    uint64_t base_ns;
    uint64_t input_ns_per_1024_tokens;
    uint64_t output_ns_per_1024_tokens;
    uint64_t load_slope_permille;
    uint64_t load_reference;    /* 1 or more when there is a slope */
    uint64_t context_tokens;    /* prompt + output at most; 0: no limit */
    uint64_t max_output_tokens; /* 0: no limit; then reserve_max_tokens reserves what is written */
    uint32_t priced;            /* 0: the prices are unknown, and so is every sum that they are part of */
    uint64_t input_pusd;        /* 10^-12 USD a token; one USD per million tokens is 10^6 */
    uint64_t cached_pusd;
    uint64_t output_pusd;
} rt_sim_model;

typedef struct rt_sim_tool {
    const char *name;
    rt_sim_distribution latency_ns;
    rt_sim_distribution result_tokens;
    uint64_t rate_per_min; /* 0: no limit */
    uint32_t concurrency;  /* 0: no limit */
    uint32_t overflow;
    uint64_t retry_after_ns;
    uint64_t error; /* probabilities, 0 .. 2^32 */
    uint64_t timeout;
    uint64_t timeout_ns; /* where a call that times out ends, and every longer one; 0: never */
    uint32_t optional;   /* 1: the task goes on when the call has failed for good */
    uint32_t write;      /* 1: it has effects outside; only counted */
} rt_sim_tool;

/* How often a class calls a tool in each step: the whole thousands, and once more with the rest as probability. */
typedef struct rt_sim_tool_use {
    uint32_t tool;
    uint32_t per_step_permille;
} rt_sim_tool_use;

/* A class of tasks. Every step but the last is followed by its tool calls, one after another. */
typedef struct rt_sim_class {
    const char *name;
    uint64_t share;  /* relative to the other classes */
    uint32_t tenant; /* UINT32_MAX: drawn by the tenants' shares */
    uint32_t model;
    rt_sim_distribution steps; /* 1 .. 65,535 */
    rt_sim_distribution system_tokens;
    rt_sim_distribution tools_tokens;
    rt_sim_distribution document_tokens;
    rt_sim_distribution user_tokens;
    rt_sim_distribution output_tokens; /* of each step */
    uint32_t first_tool_use;           /* in scenario.tool_uses */
    uint32_t tool_uses;
    uint32_t first_prefix; /* in scenario.prefix_tokens: what its tasks share, each as likely */
    uint32_t prefixes;     /* 0: none */
    uint64_t prefix_share; /* how much of system + tools is in the shared prefix, 0 .. 2^32 */
    uint64_t success;      /* probability that a task that was not degraded succeeds */
} rt_sim_class;

/* Whole recorded tasks; when there is one, every task is one of them, each as likely, and there are no classes. */
typedef struct rt_sim_recorded_task {
    uint32_t first_step;
    uint32_t steps;  /* 1 .. 65,535 */
    uint32_t tenant; /* UINT32_MAX: drawn */
    uint32_t model;
    uint32_t prefix; /* in scenario.prefix_tokens; UINT32_MAX: shares none */
    uint32_t shared_tokens;
    uint64_t success;
} rt_sim_recorded_task;

typedef struct rt_sim_recorded_step {
    uint32_t input_tokens; /* the whole prompt */
    uint32_t output_tokens;
    uint64_t latency_ns; /* of the model call without load; 0: by the model's law */
    uint32_t first_call;
    uint32_t calls;
} rt_sim_recorded_step;

typedef struct rt_sim_recorded_call {
    uint32_t tool;
    uint64_t latency_ns;
} rt_sim_recorded_call;

/* A layer of retries. Layers stand around an operation in the order of the array, the innermost first: each further
 * attempt of one starts those inside it anew. */
typedef struct rt_sim_retry {
    const char *name;    /* "client", "tool", "workflow" */
    uint32_t operations; /* RT_SIM_MODEL_CALLS + RT_SIM_TOOL_CALLS */
    uint32_t attempts;   /* 1 .. 255 in all, the first one included */
    uint32_t on;         /* RT_SIM_ON_... */
    uint32_t backoff;
    uint64_t delay_ns;    /* exponential: delay * 2^(k-1) before attempt k + 1, at most cap */
    uint64_t cap_ns;      /* 0: no cap */
    uint32_t full_jitter; /* 1: uniform in 0 .. delay */
} rt_sim_retry;

typedef struct rt_sim_degradation {
    const char *name;
    uint32_t state;
    uint32_t condition;
    uint64_t threshold;
    uint32_t model;                 /* fallback: the model in its place */
    uint64_t keep_tokens;           /* truncate: of the prompt */
    uint64_t steps_factor_permille; /* lower effort: of the steps that are left; 1000 changes nothing */
    uint64_t output_factor_permille;
    int64_t success_delta; /* of 2^32, added once to the task's probability of success */
} rt_sim_degradation;

typedef struct rt_sim_event {
    uint32_t kind;
    uint32_t dependency; /* provider or tool */
    uint64_t at_ns;
    uint64_t for_ns;
} rt_sim_event;

/* Everything is copied by rt_sim_create except the arrays and names, which must stay as they are until destroy. */
typedef struct rt_sim_scenario {
    uint64_t seed;
    uint64_t tasks;        /* arrivals at most, 1 .. 2^31 */
    uint64_t horizon_ns;   /* no arrival at or after this; 0: only `tasks` bounds them */
    uint64_t deadline_ns;  /* the run ends here at the latest; 1 .. 2^53 */
    uint64_t warmup_tasks; /* the first tasks stay out of the histograms and means, not out of the counts */

    uint32_t arrival;
    uint64_t gap_ns;
    const uint64_t *times_ns; /* ascending; `tasks` of them */
    uint64_t burst_tasks;
    uint64_t in_flight;
    rt_sim_distribution think_ns;

    uint32_t workers; /* slots; 0: no limit */
    uint32_t discipline;
    uint64_t queue_limit; /* tasks that may wait for a slot; one more is shed; 0: no limit */

    const rt_sim_tenant *tenants; /* 1 .. 1024 */
    uint32_t tenants_count;
    const rt_sim_provider *providers; /* 1 .. 64 */
    uint32_t providers_count;
    const rt_sim_model *models; /* 1 .. 1024 */
    uint32_t models_count;
    const rt_sim_tool *tools; /* 0 .. 1024 */
    uint32_t tools_count;
    const rt_sim_class *classes;
    uint32_t classes_count;
    const rt_sim_tool_use *tool_uses;
    uint32_t tool_uses_count;
    const rt_sim_recorded_task *recorded;
    uint32_t recorded_count;
    const rt_sim_recorded_step *recorded_steps;
    uint32_t recorded_steps_count;
    const rt_sim_recorded_call *recorded_calls;
    uint32_t recorded_calls_count;
    const uint32_t *prefix_tokens; /* length of each shared prefix; used only to fill a warm cache */
    uint32_t prefixes_count;
    const uint64_t *values; /* of the distributions */
    uint32_t values_count;

    const rt_sim_retry *retries; /* 0 .. 3 */
    uint32_t retries_count;
    uint32_t retry_budget_permille; /* retries by logical operations so far; 0: no budget */
    uint32_t retry_budget_reserve;  /* retries allowed before any operation */
    uint32_t breaker_failures;      /* one after another open a provider's or tool's breaker; 0: none */
    uint64_t breaker_open_ns;
    const rt_sim_degradation *degradations; /* 0 .. 16; looked at in this order */
    uint32_t degradations_count;
    const rt_sim_event *events;
    uint32_t events_count;

    uint32_t warm; /* 1: the shared prefixes are in the caches at the start, as far as they fit */
    const uint32_t *evaluation_ids; /* task numbers, ascending; the record tells how each ended */
    uint32_t evaluation_count;
    const uint32_t *trace_ids; /* task numbers, ascending, whose spans are kept */
    uint32_t trace_count;
    uint32_t slowest_limit; /* ended tasks kept, those that took longest */
    uint32_t failed_limit;  /* failed or shed tasks kept, the first ones */
    uint64_t timeline_ns;   /* interval of the timeline; doubles when rows are used up; 0: no timeline */
    uint32_t timeline_rows; /* 2 .. 65,536 when there is a timeline */
} rt_sim_scenario;

/* A task that has ended. */
typedef struct rt_sim_task {
    uint32_t task;
    uint32_t origin; /* class or recorded task */
    uint32_t tenant;
    uint32_t outcome;
    uint32_t succeeded;
    uint32_t steps;        /* done */
    uint32_t degradations; /* bit d: degradation d was applied to it */
    uint32_t logical_operations;
    uint32_t attempts;
    uint64_t arrived_ns;
    uint64_t ended_ns;
    uint64_t tokens_input; /* cached ones included */
    uint64_t tokens_cached;
    uint64_t tokens_output;
    uint64_t cost_pusd;
} rt_sim_task;

/* One attempt of a call of a traced task, or (RT_SIM_SPAN_TASK) the task itself: when it arrived, got a worker slot
 * and ended, and its own outcome. */
typedef struct rt_sim_span {
    uint32_t task;
    uint32_t step; /* from 0 */
    uint32_t kind;
    uint32_t dependency; /* model or tool; UINT32_MAX for a task */
    uint32_t outcome;    /* RT_SIM_CALL_...; of a task RT_SIM_FINISHED, _FAILED or _SHED_TASK */
    uint32_t input_tokens;
    uint32_t cached_tokens;
    uint32_t output_tokens; /* of a tool: tokens of its result */
    uint64_t asked_ns;      /* when it got in line */
    uint64_t started_ns;
    uint64_t ended_ns;
} rt_sim_span;

/* Figures that depend on the machine or serve benchmarks; none is in the record. */
typedef struct rt_sim_figures {
    uint64_t events;                /* pops that changed the state of a task */
    uint64_t pops;                  /* all */
    uint64_t in_flight_peak;        /* arrived and not ended */
    uint64_t cpu_ns;                /* of the thread, in rt_sim_execute */
    uint64_t rss_anon_growth_bytes; /* at the end of rt_sim_execute against its start; 0 when unreadable */
    uint64_t bytes_of_a_task;
    uint64_t virtual_ns;
} rt_sim_figures;

/* Checks the scenario and allocates. On failure *out is NULL and `message` holds one sentence: "invalid" names the
 * member that is wrong, "no_memory". */
int rt_sim_create(const rt_sim_scenario *scenario, rt_sim **out, char *message, size_t message_bytes);

/* Runs to the end and writes the record; blocks. Once. 0 means that there is a record, whatever its outcome. */
int rt_sim_execute(rt_sim *self, char *message, size_t message_bytes);

/* Ends the run early, from a signal handler or another thread; its outcome is "killed". */
void rt_sim_interrupt(rt_sim *self);

/* One line of JSON, valid until destroy; NULL before rt_sim_execute succeeded. Members: src/sim/rt_sim_record.h. */
const char *rt_sim_record(const rt_sim *self);

/* "completed", "overloaded" (the deadline came first) or "killed"; NULL before rt_sim_execute succeeded. */
const char *rt_sim_outcome(const rt_sim *self);

/* The tasks that took longest, longest first, equal ones by number. Valid until destroy. */
const rt_sim_task *rt_sim_slowest(const rt_sim *self, size_t *count);

/* The first tasks that failed or were shed, in the order in which they ended. */
const rt_sim_task *rt_sim_failures(const rt_sim *self, size_t *count);

/* Spans of the traced tasks, in the order in which they ended. To trace the slowest, run once to find them and again
 * with their numbers as trace_ids: it is the same run. */
const rt_sim_span *rt_sim_spans(const rt_sim *self, size_t *count);

void rt_sim_figures_read(const rt_sim *self, rt_sim_figures *out);

/* NULL is allowed. Not while rt_sim_execute runs. */
void rt_sim_destroy(rt_sim *self);

/* SHA-256 of the simulator's sources and flags, in hexadecimal. A constant. */
const char *rt_sim_digest(void);
/* cffi:end */

#endif
