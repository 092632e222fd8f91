/* The options of a run: their defaults, the range of each, and how they become those of the workload. */
#ifndef RT_OPTIONS_H
#define RT_OPTIONS_H

#include "rt_status.h"
#include "rt_workload.h"
#include "runtime.h"

#include <stdbool.h>
#include <stddef.h>

/* Rises whenever one task contains other work than before: results of two versions are not comparable. */
#define RT_BENCHMARK_VERSION "1"

#define RT_OPTIONS_SUITE_BYTES 65 /* with the closing NUL */
#define RT_OPTIONS_RUN_ID_BYTES 17
#define RT_OPTIONS_VARIANT_BYTES 33
#define RT_OPTIONS_WORDS_MAX 4

/* An option whose value is one of a few words, and the words. */
typedef struct rt_option_choice {
    const char *name;
    size_t offset; /* of the member in rt_run_options */
    const char *words[RT_OPTIONS_WORDS_MAX + 1]; /* up to NULL */
} rt_option_choice;
extern const rt_option_choice rt_option_choices[];
extern const size_t rt_option_choice_count;

/* The defaults of the suite `scale`, from rt_workload_options_init. */
void rt_options_init(rt_run_options *options);

/* RT_INVALID: `why` names the first option that is out of its range or does not go with another, its value and
 * what to choose. */
rt_status rt_options_check(const rt_run_options *options, rt_message *why);

/* Lets every option that is one of a few words, and benchmark_version, point to constants of the library.
 * Checked options only. */
void rt_options_own_strings(rt_run_options *options);

/* Checked options only. */
void rt_options_to_workload(const rt_run_options *options, rt_workload_options *out);

/* Whether an option that is one of a few words has this value. */
bool rt_option_is(const char *value, const char *word);

#endif
