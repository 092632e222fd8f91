#include "rt_status.h"

#include "check.h"

static void every_status_has_a_name_and_a_sentence_of_its_own(void) {
    for (int a = 0; a < RT_STATUS_COUNT; a++) {
        CHECK(strcmp(rt_status_name((rt_status)a), "unknown") != 0);
        for (int b = 0; b < a; b++) {
            CHECK(strcmp(rt_status_name((rt_status)a), rt_status_name((rt_status)b)) != 0);
            CHECK(strcmp(rt_status_text((rt_status)a), rt_status_text((rt_status)b)) != 0);
        }
    }
}

static void a_number_that_is_no_status_is_called_unknown(void) {
    CHECK_TEXT("unknown", rt_status_name((rt_status)RT_STATUS_COUNT));
    CHECK_TEXT("unknown", rt_status_name((rt_status)-1));
}

static void a_failure_carries_its_sentence_cut_to_the_message(void) {
    rt_message why;
    char text[600];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    CHECK_UINT(RT_FULL, rt_fail(&why, RT_FULL, "%d of %s", 3, "four"));
    CHECK_TEXT("3 of four", why.text);
    CHECK_UINT(RT_INVALID, rt_fail(&why, RT_INVALID, "%s", text));
    CHECK_UINT(sizeof why.text - 1, strlen(why.text));
    CHECK_UINT(RT_FULL, rt_fail(NULL, RT_FULL, "nobody listens"));
}

int main(void) {
    every_status_has_a_name_and_a_sentence_of_its_own();
    a_number_that_is_no_status_is_called_unknown();
    a_failure_carries_its_sentence_cut_to_the_message();
    return check_done();
}
