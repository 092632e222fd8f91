#include "rt_digest_block.h"

#include "rt_random.h"

#include "check.h"

static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/* "abc" padded to a block; expected: the digest that NIST publishes for it (SHA256.pdf). */
static void a_published_block_is_compressed_as_published(rt_digest_compress compress) {
    static const uint32_t expected[8] = {0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                                         0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};
    uint8_t block[64] = {'a', 'b', 'c', 0x80};
    uint32_t state[8];
    block[63] = 24;
    memcpy(state, initial, sizeof state);
    compress(state, block, 1);
    for (unsigned i = 0; i < 8; i++) {
        CHECK_UINT(expected[i], state[i]);
    }
}

static void random_blocks_give_the_same_by_both(rt_digest_compress machine) {
    uint8_t blocks[64 * 9 + 1];
    rt_random random;
    rt_random_init(&random, 1);
    for (unsigned round = 0; round < 200; round++) {
        uint32_t one[8], other[8];
        const size_t at = round % 2; /* also where nothing is aligned */
        for (size_t i = 0; i < sizeof blocks; i++) {
            blocks[i] = (uint8_t)rt_random_next(&random);
        }
        for (unsigned i = 0; i < 8; i++) {
            one[i] = other[i] = (uint32_t)rt_random_next(&random);
        }
        rt_digest_compress_portable(one, blocks + at, round % 10);
        machine(other, blocks + at, round % 10);
        CHECK(memcmp(one, other, sizeof one) == 0);
    }
}

int main(void) {
    const rt_digest_compress machine = rt_digest_compress_machine();
    a_published_block_is_compressed_as_published(rt_digest_compress_portable);
    if (machine != NULL) {
        a_published_block_is_compressed_as_published(machine);
        random_blocks_give_the_same_by_both(machine);
    }
    return check_done();
}
