/* The test harness: checks that print what differed and go on, and an exit status. */
#ifndef CHECK_H
#define CHECK_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int check_failures;

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s: not so: %s\n", __FILE__, __LINE__, __func__, #condition);            \
            check_failures++;                                                                                \
        }                                                                                                    \
    } while (0)

#define CHECK_UINT(expected, actual)                                                                         \
    do {                                                                                                     \
        const uint64_t check_expected = (uint64_t)(expected), check_actual = (uint64_t)(actual);             \
        if (check_expected != check_actual) {                                                                \
            fprintf(stderr, "%s:%d: %s: %s is %" PRIu64 ", expected %" PRIu64 "\n", __FILE__, __LINE__,      \
                    __func__, #actual, check_actual, check_expected);                                        \
            check_failures++;                                                                                \
        }                                                                                                    \
    } while (0)

#define CHECK_TEXT(expected, actual)                                                                         \
    do {                                                                                                     \
        const char *check_expected = (expected), *check_actual = (actual);                                   \
        if (check_actual == NULL || strcmp(check_expected, check_actual) != 0) {                             \
            fprintf(stderr, "%s:%d: %s: %s is \"%s\", expected \"%s\"\n", __FILE__, __LINE__, __func__,      \
                    #actual, check_actual == NULL ? "(null)" : check_actual, check_expected);                \
            check_failures++;                                                                                \
        }                                                                                                    \
    } while (0)

/* Ends main: `return check_done();` */
static inline int check_done(void) {
    if (check_failures > 0) {
        fprintf(stderr, "%d checks failed\n", check_failures);
    }
    return check_failures > 0;
}

#endif
