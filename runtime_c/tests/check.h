/* The test harness: checks that print what differed and go on, and an exit status. Main thread only. */
#ifndef CHECK_H
#define CHECK_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A sanitizer keeps shadow memory and freed blocks, and may touch a block before the program does. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CHECK_MEMORY_IS_OUR_OWN 0
#else
#define CHECK_MEMORY_IS_OUR_OWN 1
#endif

static int check_failures;
static int check_count; /* checks made: a test that checks nothing shows as 0 */

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        check_count++;                                                                                       \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s: not so: %s\n", __FILE__, __LINE__, __func__, #condition);            \
            check_failures++;                                                                                \
        }                                                                                                    \
    } while (0)

#define CHECK_UINT(expected, actual)                                                                         \
    do {                                                                                                     \
        const uint64_t check_expected = (uint64_t)(expected), check_actual = (uint64_t)(actual);             \
        check_count++;                                                                                       \
        if (check_expected != check_actual) {                                                                \
            fprintf(stderr, "%s:%d: %s: %s is %" PRIu64 ", expected %" PRIu64 "\n", __FILE__, __LINE__,      \
                    __func__, #actual, check_actual, check_expected);                                        \
            check_failures++;                                                                                \
        }                                                                                                    \
    } while (0)

#define CHECK_TEXT(expected, actual)                                                                         \
    do {                                                                                                     \
        const char *check_expected = (expected), *check_actual = (actual);                                   \
        check_count++;                                                                                       \
        if (check_actual == NULL || strcmp(check_expected, check_actual) != 0) {                             \
            fprintf(stderr, "%s:%d: %s: %s is \"%s\", expected \"%s\"\n", __FILE__, __LINE__, __func__,      \
                    #actual, check_actual == NULL ? "(null)" : check_actual, check_expected);                \
            check_failures++;                                                                                \
        }                                                                                                    \
    } while (0)

/* Ends main: `return check_done();` */
static inline int check_done(void) {
    fprintf(stderr, "%d checks, %d failed\n", check_count, check_failures);
    return check_failures > 0 || check_count == 0;
}

#endif
