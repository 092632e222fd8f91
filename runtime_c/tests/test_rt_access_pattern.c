#include "rt_access_pattern.h"

#include "check.h"

static void names_are_those_of_the_record(void) {
    static const char *const expected[] = {"uniform", "sequential", "strided", "hot"};
    for (unsigned i = 0; i < RT_ACCESS_PATTERNS; i++) {
        rt_access_pattern found = RT_ACCESS_PATTERNS;
        CHECK_TEXT(expected[i], rt_access_pattern_name((rt_access_pattern)i));
        CHECK(rt_access_pattern_find(expected[i], &found));
        CHECK_UINT(i, found);
    }
    rt_access_pattern untouched = RT_ACCESS_HOT;
    CHECK(!rt_access_pattern_find("", &untouched) && !rt_access_pattern_find("Hot", &untouched));
    CHECK_UINT(RT_ACCESS_HOT, untouched);
}

static void every_offset_lies_in_the_context(void) {
    static const uint64_t sizes[] = {1, 2, 9, 10, 63, 64, 65, 4159, 4160, 4161, 5000, UINT64_C(1) << 40};
    for (unsigned pattern = 0; pattern < RT_ACCESS_PATTERNS; pattern++) {
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            for (uint32_t probe = 0; probe < 300; probe++) {
                CHECK(rt_access_offset((rt_access_pattern)pattern, i, probe, sizes[i]) < sizes[i]);
            }
        }
    }
}

static void uniform_probes_spread_over_the_whole_context(void) {
    uint64_t counts[8] = {0};
    for (uint64_t id = 0; id < 1000; id++) {
        for (uint32_t probe = 0; probe < 64; probe++) {
            counts[rt_access_offset(RT_ACCESS_UNIFORM, id, probe, 4096) / 512]++;
        }
    }
    for (unsigned i = 0; i < 8; i++) { /* 8,000 expected, standard deviation 84: five of them */
        CHECK(counts[i] > 7580 && counts[i] < 8420);
    }
}

/* 64,000 probes, 57,600 of them expected in the hot part, standard deviation 76: five of them. */
static void nine_tenths_of_hot_probes_hit_a_tenth_of_the_context(void) {
    const uint64_t bytes = 1000003;
    uint64_t hot = 0;
    uint64_t tenths[10] = {0};
    for (uint64_t id = 0; id < 1000; id++) {
        for (uint32_t probe = 0; probe < 64; probe++) {
            const uint64_t offset = rt_access_offset(RT_ACCESS_HOT, id, probe, bytes);
            hot += offset < bytes / 10;
            tenths[offset * 10 / bytes]++;
        }
    }
    CHECK(hot > 57220 && hot < 57980);
    for (unsigned i = 1; i < 10; i++) { /* 6,400 / 9 = 711 expected, standard deviation 27 */
        CHECK(tenths[i] > 570 && tenths[i] < 850);
    }
}

static void steps_follow_each_other_and_wrap(rt_access_pattern pattern, uint64_t step) {
    static const uint64_t sizes[] = {8u << 20, 100003, 5000, 50, 1};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t at = rt_access_offset(pattern, 7, 0, sizes[i]);
        for (uint32_t probe = 1; probe < 500; probe++) {
            at = (at + step) % sizes[i];
            CHECK_UINT(at, rt_access_offset(pattern, 7, probe, sizes[i]));
        }
    }
}

static void tasks_start_at_different_places(void) {
    uint64_t quarters[4] = {0};
    for (uint64_t id = 0; id < 400; id++) { /* 100 expected in each, standard deviation 8.7: five of them */
        quarters[rt_access_offset(RT_ACCESS_SEQUENTIAL, id, 0, 4096) / 1024]++;
    }
    for (unsigned i = 0; i < 4; i++) {
        CHECK(quarters[i] > 56 && quarters[i] < 144);
    }
}

int main(void) {
    names_are_those_of_the_record();
    every_offset_lies_in_the_context();
    uniform_probes_spread_over_the_whole_context();
    nine_tenths_of_hot_probes_hit_a_tenth_of_the_context();
    steps_follow_each_other_and_wrap(RT_ACCESS_SEQUENTIAL, 64);
    steps_follow_each_other_and_wrap(RT_ACCESS_STRIDED, 4160);
    tasks_start_at_different_places();
    return check_done();
}
