/* Expected digests: FIPS 180-4 examples as published by NIST (SHA256.pdf: "abc" and the two-block message), the
 * SHA-256 of the empty message and of one million "a" from NIST's CAVP long-message notes. */
#include "rt_digest.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

static void digest_of(const void *bytes, size_t count, size_t piece, char hex[RT_DIGEST_HEX_BYTES]) {
    rt_digest digest;
    rt_digest_init(&digest);
    for (size_t at = 0; at < count; at += piece) {
        rt_digest_update(&digest, (const char *)bytes + at, count - at < piece ? count - at : piece);
    }
    rt_digest_finish_hex(&digest, hex);
}

static void published_vectors_are_met(void) {
    static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    char hex[RT_DIGEST_HEX_BYTES];
    digest_of("", 0, 1, hex);
    CHECK_TEXT("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", hex);
    digest_of("abc", 3, 3, hex);
    CHECK_TEXT("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", hex);
    digest_of(two_blocks, sizeof two_blocks - 1, 56, hex);
    CHECK_TEXT("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1", hex);
}

static void a_million_letters_in_any_pieces_give_the_same(void) {
    static const size_t pieces[] = {1, 7, 63, 64, 65, 1000000};
    static char letters[1000000];
    char hex[RT_DIGEST_HEX_BYTES];
    memset(letters, 'a', sizeof letters);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        digest_of(letters, sizeof letters, pieces[i], hex);
        CHECK_TEXT("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", hex);
    }
}

static void a_file_has_the_digest_of_its_bytes(void) {
    char path[] = "digest-XXXXXX", hex[RT_DIGEST_HEX_BYTES];
    int file = mkstemp(path);
    CHECK(file >= 0 && write(file, "abc", 3) == 3);
    close(file);
    CHECK_UINT(RT_OK, rt_digest_file_hex(path, hex));
    CHECK_TEXT("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", hex);
    unlink(path);
    CHECK_UINT(RT_IO, rt_digest_file_hex(path, hex));
    CHECK_TEXT("", hex);
    CHECK_UINT(RT_IO, rt_digest_file_hex(".", hex)); /* a folder opens and does not read */
}

int main(void) {
    published_vectors_are_met();
    a_million_letters_in_any_pieces_give_the_same();
    a_file_has_the_digest_of_its_bytes();
    return check_done();
}
