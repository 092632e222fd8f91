#include "rt_record_parts.h"

#include "check.h"

#include <stdlib.h>

static rt_histogram histogram;

/* The histogram as a record has it; the caller frees it. */
static char *written(void) {
    rt_json *json = NULL;
    const char *text = NULL;
    CHECK_UINT(RT_OK, rt_json_create(&json));
    rt_json_object_begin(json, NULL);
    rt_record_write_histogram(json, "queue", &histogram, 1);
    rt_json_object_end(json);
    CHECK_UINT(RT_OK, rt_json_finish(json, &text));
    char *const copy = strdup(text == NULL ? "" : text);
    rt_json_destroy(json);
    return copy;
}

/* Bug 7: an interval without a value wrote NaN and a minimum of 9.2e18. */
static void bug7_without_values_there_is_no_minimum_and_no_maximum(void) {
    rt_histogram_init(&histogram);
    char *const text = written();
    CHECK_TEXT("{\"queue\":{\"layout\":\"log-linear/7\",\"unit\":\"ns\",\"sample_every\":1,\"count\":0,"
               "\"sum_ns\":\"0\",\"min_ns\":null,\"max_ns\":null,\"buckets\":[]}}",
               text);
    free(text);
}

/* Bug 6: a value beyond the range of a histogram was lost, or changed without a word. One hour is 3.6e12 ns:
 * s = 34, 3600000000000 >> 34 = 209, index 35 * 128 + 209 - 128 = 4561. */
static void bug6_an_hour_is_written_with_its_own_extremes(void) {
    rt_histogram_init(&histogram);
    rt_histogram_record(&histogram, 0);
    rt_histogram_record(&histogram, UINT64_C(3600000000000));
    char *const text = written();
    CHECK(strstr(text, "\"count\":2,\"sum_ns\":\"3600000000000\",\"min_ns\":0,\"max_ns\":3600000000000,"
                       "\"buckets\":[[0,1],[4561,1]]") != NULL);
    free(text);
}

int main(void) {
    bug7_without_values_there_is_no_minimum_and_no_maximum();
    bug6_an_hour_is_written_with_its_own_extremes();
    return check_done();
}
