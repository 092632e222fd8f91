#include "rt_status.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct status_entry {
    const char *name;
    const char *text;
} status_entry;

static const status_entry entries[RT_STATUS_COUNT] = {
    [RT_OK] = {"ok", "done"},
    [RT_INVALID] = {"invalid", "an argument is outside its range"},
    [RT_NO_MEMORY] = {"no_memory", "there is not enough memory"},
    [RT_NO_THREAD] = {"no_thread", "a thread could not start"},
    [RT_FULL] = {"full", "the bound is reached"},
    [RT_NOT_FOUND] = {"not_found", "there is no such entry"},
    [RT_EXISTS] = {"exists", "there is such an entry already"},
    [RT_TOO_SMALL] = {"too_small", "the buffer is too small for the answer"},
    [RT_TIMED_OUT] = {"timed_out", "the deadline passed"},
    [RT_STOPPED] = {"stopped", "it was told to stop"},
    [RT_FORKED] = {"forked", "the worker threads live in the parent of this forked process"},
    [RT_BUSY] = {"busy", "it cannot be done in this phase"},
    [RT_IO] = {"io", "reading or writing failed"},
    [RT_UNAVAILABLE] = {"unavailable", "this machine does not offer it"},
    [RT_FAILED] = {"failed", "it was done and the outcome is a failure"},
    [RT_STACK_OVERFLOW] = {"stack_overflow", "the runner of a task used more stack than it had"},
    [RT_CANCELLED] = {"cancelled", "it was taken back before it started"},
};

static const status_entry *entry_of(rt_status status) {
    static const status_entry unknown = {"unknown", "this number is no status of the runtime"};
    const unsigned index = (unsigned)status;
    return index < RT_STATUS_COUNT ? &entries[index] : &unknown;
}

const char *rt_status_name(rt_status status) { return entry_of(status)->name; }

const char *rt_status_text(rt_status status) { return entry_of(status)->text; }

rt_status rt_fail(rt_message *why, rt_status status, const char *format, ...) {
    if (why != NULL) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(why->text, sizeof why->text, format, arguments);
        va_end(arguments);
    }
    return status;
}
