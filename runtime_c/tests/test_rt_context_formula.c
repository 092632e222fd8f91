#include "rt_context_formula.h"

#include "check.h"

/* Expected: byte 0 and byte 9 of splitmix64 from seed 1234567 (see test_rt_random), little-endian:
 * 6457827717110365317 = 0x599ed017fb08fc85, 3203168211198807973 = 0x2c73f08458540fa5. */
static void bytes_follow_the_formula(void) {
    CHECK_UINT(0x85, rt_context_formula_byte(1234567, 0));
    CHECK_UINT(0x59, rt_context_formula_byte(1234567, 7));
    CHECK_UINT(0xa5, rt_context_formula_byte(1234567, 8));
    CHECK_UINT(0x0f, rt_context_formula_byte(1234567, 9));
}

static void pieces_are_filled_as_the_formula_says(void) {
    for (size_t count = 0; count < 40; count++) {
        uint8_t piece[41] = {0};
        piece[count] = 0xee;
        rt_context_formula_fill(3, 64, piece, count);
        for (size_t i = 0; i < count; i++) {
            CHECK_UINT(rt_context_formula_byte(3, 64 + i), piece[i]);
        }
        CHECK_UINT(0xee, piece[count]);
    }
}

static void different_seeds_sizes_and_tasks_have_different_checksums(void) {
    CHECK(rt_context_expected_checksum(1, 4096) != rt_context_expected_checksum(2, 4096));
    CHECK(rt_context_expected_checksum(1, 4096) != rt_context_expected_checksum(1, 4095));
    for (unsigned p = 0; p < RT_ACCESS_PATTERNS; p++) {
        CHECK(rt_context_expected_probe(1, 4096, (rt_access_pattern)p, 1, 64) !=
              rt_context_expected_probe(1, 4096, (rt_access_pattern)p, 2, 64));
    }
}

static void the_checksum_notices_any_changed_bit(void) {
    uint8_t bytes[43];
    for (unsigned i = 0; i < sizeof bytes; i++) {
        bytes[i] = rt_context_formula_byte(9, i);
    }
    CHECK_UINT(rt_context_expected_checksum(9, sizeof bytes), rt_context_checksum(bytes, sizeof bytes));
    for (unsigned bit = 0; bit < sizeof bytes * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        CHECK(rt_context_expected_checksum(9, sizeof bytes) != rt_context_checksum(bytes, sizeof bytes));
        bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
}

static void pieces_sum_up_to_the_whole(void) {
    uint8_t bytes[203];
    rt_context_formula_fill(4, 0, bytes, sizeof bytes);
    for (size_t cut = 0; cut < sizeof bytes; cut += 8) {
        rt_context_sum sum;
        rt_context_sum_init(&sum, sizeof bytes);
        rt_context_sum_add(&sum, bytes, cut);
        rt_context_sum_add(&sum, bytes + cut, sizeof bytes - cut);
        CHECK_UINT(rt_context_checksum(bytes, sizeof bytes), rt_context_sum_finish(&sum));
    }
}

int main(void) {
    bytes_follow_the_formula();
    pieces_are_filled_as_the_formula_says();
    different_seeds_sizes_and_tasks_have_different_checksums();
    the_checksum_notices_any_changed_bit();
    pieces_sum_up_to_the_whole();
    return check_done();
}
