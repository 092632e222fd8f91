/* Status codes of the runtime, and the one sentence that goes with a failure. */
#ifndef RT_STATUS_H
#define RT_STATUS_H

typedef enum rt_status {
    RT_OK = 0,
    RT_INVALID,     /* an argument or option is outside its range; nothing was done */
    RT_NO_MEMORY,   /* an allocation failed; everything made so far was given back */
    RT_NO_THREAD,   /* a thread could not start; those that did were stopped and joined */
    RT_FULL,        /* a bound was reached (queue, pool); what was refused is still the caller's */
    RT_NOT_FOUND,   /* no entry under this name */
    RT_EXISTS,      /* an entry with this name is there already; it is unchanged */
    RT_TOO_SMALL,   /* the caller's buffer cannot hold the answer; the needed length is reported */
    RT_TIMED_OUT,   /* the deadline passed first; the waiting had no effect */
    RT_STOPPED,     /* the object was told to stop and takes no more work */
    RT_FORKED,      /* called in a child after fork: the worker threads exist only in the parent */
    RT_BUSY,        /* called in the wrong phase, for instance executing twice */
    RT_IO,          /* reading or writing a file failed */
    RT_UNAVAILABLE, /* this machine does not offer the value */
    RT_FAILED,      /* a runner reports that its task failed */
    RT_CANCELLED,   /* a task was taken back before it started */
    RT_STACK_OVERFLOW, /* a task's runner used more stack than it had; the task failed, others go on */
    RT_STATUS_COUNT
} rt_status;

/* What went wrong and what to do about it, in one line without a newline. */
typedef struct rt_message {
    char text[256];
} rt_message;

/* Returns a short lower-case name ("no_memory"); "unknown" for a number that is no status. */
const char *rt_status_name(rt_status status);

/* Returns one sentence for people; never NULL. */
const char *rt_status_text(rt_status status);

/* Writes the sentence into `why` (may be NULL; cut to its size) and returns `status`, so that a
 * check reads `return rt_fail(why, RT_INVALID, "...")`. */
rt_status rt_fail(rt_message *why, rt_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
