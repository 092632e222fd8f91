#include "rt_context_store.h"

#include "check.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define CHUNK ((uint64_t)RT_CONTEXT_CHUNK_BYTES)
#define BYTES (5u * CHUNK + 123u)

static rt_allocator allocator;

static rt_context_store *context_of(uint64_t bytes) {
    rt_context_store *context;
    CHECK_UINT(RT_OK, rt_context_store_create(&allocator, bytes, 7, &context, NULL));
    return context;
}

static rt_context_store *spilled_context(void) {
    rt_context_store *const context = context_of(BYTES);
    CHECK_UINT(RT_OK, rt_context_store_spill(context, NULL, NULL));
    CHECK_UINT(RT_CONTEXT_COLD, rt_context_store_tier(context));
    return context;
}

/* ---- sinks ---- */

typedef struct summing_sink {
    rt_context_sum sum;
    uint64_t bytes, calls;
} summing_sink;

static rt_status add_up(void *context, const uint8_t *piece, size_t count) {
    summing_sink *const self = context;
    CHECK(count <= CHUNK);
    rt_context_sum_add(&self->sum, piece, count);
    self->bytes += count;
    self->calls++;
    return RT_OK;
}

static rt_status serialise(rt_context_store *context, summing_sink *sink, rt_message *why) {
    *sink = (summing_sink){.bytes = 0};
    rt_context_sum_init(&sink->sum, BYTES);
    return rt_context_store_serialise(context, (rt_context_sink){add_up, sink}, why);
}

static rt_status refuse_second(void *context, const uint8_t *piece, size_t count) {
    (void)piece;
    (void)count;
    return ++*(unsigned *)context == 2 ? RT_STOPPED : RT_OK;
}

/* ---- HOT and COLD ---- */

static void spilled_content_comes_back_as_it_was(void) {
    rt_context_store *const context = context_of(BYTES);
    uint8_t *bytes;
    size_t count;
    CHECK_UINT(RT_CONTEXT_HOT, rt_context_store_tier(context));
    CHECK_UINT(RT_OK, rt_context_store_edit(context, 2, &bytes, &count, NULL));
    bytes[17] ^= 1;
    const uint64_t before = rt_context_store_checksum(context);
    CHECK_UINT(RT_OK, rt_context_store_spill(context, NULL, NULL));
    CHECK_UINT(RT_CONTEXT_COLD, rt_context_store_tier(context));
    CHECK_UINT(RT_OK, rt_context_store_restore(context, NULL));
    CHECK_UINT(RT_CONTEXT_HOT, rt_context_store_tier(context));
    CHECK_UINT(before, rt_context_store_checksum(context));
    CHECK_UINT(-1, rt_context_store_spill_descriptor(context));
    rt_context_store_destroy(context);
}

/* Also what a dropped snapshot left away from home. */
static void chunks_that_were_copied_are_spilled_from_where_they_are(void) {
    rt_context_store *const context = context_of(BYTES);
    rt_context_snapshot *snapshot;
    uint8_t *bytes;
    size_t count;
    CHECK_UINT(RT_OK, rt_context_snapshot_take(context, &snapshot, NULL));
    CHECK_UINT(RT_OK, rt_context_store_edit(context, 5, &bytes, &count, NULL));
    memset(bytes, 0x5a, count);
    const uint64_t before = rt_context_store_checksum(context);
    rt_message why;
    CHECK_UINT(RT_BUSY, rt_context_store_spill(context, NULL, &why));
    CHECK_TEXT("1 snapshots keep the context in memory; drop them first", why.text);
    rt_context_snapshot_drop(snapshot);
    CHECK_UINT(RT_OK, rt_context_store_spill(context, NULL, NULL));
    CHECK_UINT(RT_OK, rt_context_store_restore(context, NULL));
    CHECK_UINT(before, rt_context_store_checksum(context));
    rt_context_store_destroy(context);
}

static void a_spilled_content_keeps_no_memory(void) {
    rt_context_store *const context = context_of(BYTES);
    rt_context_bytes account;
    rt_context_store_account(context, &account);
    CHECK_UINT(6 * CHUNK, account.content_bytes);
    CHECK_UINT(0, account.spilled_bytes);
    CHECK_UINT(RT_OK, rt_context_store_spill(context, NULL, NULL));
    rt_context_store_account(context, &account);
    CHECK_UINT(0, account.content_bytes);
    CHECK_UINT(0, account.copy_bytes);
    CHECK_UINT(BYTES, account.spilled_bytes);
    rt_context_store_destroy(context);
}

static void what_needs_the_content_in_memory_is_refused_without_it(void) {
    rt_context_store *const context = spilled_context();
    rt_context_snapshot *snapshot;
    uint8_t *bytes;
    size_t count;
    CHECK_UINT(RT_BUSY, rt_context_store_spill(context, NULL, NULL));
    CHECK_UINT(RT_BUSY, rt_context_store_edit(context, 0, &bytes, &count, NULL));
    CHECK_UINT(RT_BUSY, rt_context_snapshot_take(context, &snapshot, NULL));
    CHECK_UINT(RT_BUSY, rt_context_store_overview_make(context, 100, NULL));
    CHECK_UINT(RT_OK, rt_context_store_restore(context, NULL));
    CHECK_UINT(RT_BUSY, rt_context_store_restore(context, NULL));
    rt_context_store_destroy(context);
}

static void serialisation_is_the_same_from_memory_and_from_the_file(void) {
    rt_context_store *const context = context_of(BYTES);
    summing_sink hot, cold;
    CHECK_UINT(RT_OK, serialise(context, &hot, NULL));
    CHECK_UINT(RT_OK, rt_context_store_spill(context, NULL, NULL));
    CHECK_UINT(RT_OK, serialise(context, &cold, NULL));
    CHECK_UINT(BYTES, hot.bytes);
    CHECK_UINT(6, hot.calls);
    CHECK_UINT(rt_context_expected_checksum(7, BYTES), rt_context_sum_finish(&hot.sum));
    CHECK_UINT(rt_context_expected_checksum(7, BYTES), rt_context_sum_finish(&cold.sum));
    CHECK_UINT(6, cold.calls);
    rt_context_store_destroy(context);
}

static void a_sink_that_fails_ends_the_serialisation(void) {
    rt_context_store *const context = context_of(BYTES);
    unsigned calls = 0;
    CHECK_UINT(RT_STOPPED,
               rt_context_store_serialise(context, (rt_context_sink){refuse_second, &calls}, NULL));
    CHECK_UINT(2, calls);
    CHECK_UINT(RT_OK, rt_context_store_spill(context, NULL, NULL));
    calls = 0;
    CHECK_UINT(RT_STOPPED,
               rt_context_store_serialise(context, (rt_context_sink){refuse_second, &calls}, NULL));
    CHECK_UINT(2, calls);
    rt_context_store_destroy(context);
}

/* ---- damage ---- */

static rt_status read_formula(void *seed, uint64_t offset, uint8_t *piece, size_t count) {
    rt_context_formula_fill(*(uint64_t *)seed, offset, piece, count);
    return RT_OK;
}

/* After the failure: the chunks before the damage can be read, the store can be loaded again and used. */
static void damage_is_reported_and_harms_nothing_else(rt_context_store *context, uint64_t good_chunks,
                                                      const char *message) {
    const uint64_t live = allocator.live_objects;
    uint64_t seed = 8;
    summing_sink sink;
    rt_message why = {""};
    CHECK_UINT(RT_IO, rt_context_store_restore(context, &why));
    CHECK_TEXT(message, why.text);
    CHECK_UINT(live, allocator.live_objects);
    CHECK_UINT(RT_CONTEXT_COLD, rt_context_store_tier(context));
    CHECK_UINT(RT_IO, serialise(context, &sink, &why));
    CHECK_TEXT(message, why.text);
    CHECK_UINT(good_chunks, sink.calls);
    CHECK_UINT(RT_OK, rt_context_store_load(context, (rt_context_source){read_formula, &seed}, &why));
    CHECK_UINT(rt_context_expected_checksum(8, BYTES), rt_context_store_checksum(context));
    CHECK_UINT(RT_OK, rt_context_store_spill(context, NULL, &why));
    CHECK_UINT(RT_OK, rt_context_store_restore(context, &why));
    CHECK_UINT(rt_context_expected_checksum(8, BYTES), rt_context_store_checksum(context));
    rt_context_store_destroy(context);
}

static void a_changed_bit_of_the_file_is_found(void) {
    rt_context_store *const context = spilled_context();
    const int file = rt_context_store_spill_descriptor(context);
    uint8_t byte;
    CHECK_UINT(1, pread(file, &byte, 1, (off_t)(3 * CHUNK + 99)));
    byte ^= 0x10;
    CHECK_UINT(1, pwrite(file, &byte, 1, (off_t)(3 * CHUNK + 99)));
    damage_is_reported_and_harms_nothing_else(
        context, 3,
        "chunk 4 of 6 of the spilled context is damaged: its checksum differs; load the context again");
}

static void a_truncated_file_is_found(void) {
    rt_context_store *const context = spilled_context();
    CHECK_UINT(0, ftruncate(rt_context_store_spill_descriptor(context), (off_t)(BYTES - 1)));
    damage_is_reported_and_harms_nothing_else(
        context, 5,
        "chunk 6 of 6 of the spilled context is missing: the file ends too early; load the context again");
}

static void an_empty_file_is_found(void) {
    rt_context_store *const context = spilled_context();
    CHECK_UINT(0, ftruncate(rt_context_store_spill_descriptor(context), 0));
    damage_is_reported_and_harms_nothing_else(
        context, 0,
        "chunk 1 of 6 of the spilled context is missing: the file ends too early; load the context again");
}

/* A failing device answers so too: the descriptor is exchanged for one that cannot be read. */
static void a_file_that_cannot_be_read_is_reported(void) {
    rt_context_store *const context = spilled_context();
    int ends[2];
    CHECK_UINT(0, pipe(ends));
    CHECK(dup2(ends[0], rt_context_store_spill_descriptor(context)) >= 0);
    damage_is_reported_and_harms_nothing_else(
        context, 0, "chunk 1 of 6 of the spilled context cannot be read; load the context again");
    close(ends[0]);
    close(ends[1]);
}

static void a_damaged_file_that_is_repaired_can_be_restored(void) {
    rt_context_store *const context = spilled_context();
    const int file = rt_context_store_spill_descriptor(context);
    uint8_t byte = rt_context_formula_byte(7, 5);
    const uint8_t wrong = (uint8_t)~byte;
    CHECK_UINT(1, pwrite(file, &wrong, 1, 5));
    CHECK_UINT(RT_IO, rt_context_store_restore(context, NULL));
    CHECK_UINT(1, pwrite(file, &byte, 1, 5));
    CHECK_UINT(RT_OK, rt_context_store_restore(context, NULL));
    CHECK_UINT(rt_context_expected_checksum(7, BYTES), rt_context_store_checksum(context));
    rt_context_store_destroy(context);
}

/* ---- no room ---- */

static void a_folder_that_is_missing_is_reported(void) {
    rt_context_store *const context = context_of(BYTES);
    rt_message why;
    CHECK_UINT(RT_IO, rt_context_store_spill(context, "/nonexistent-folder", &why));
    CHECK_TEXT(
        "no temporary file can be made (No such file or directory); set TMPDIR to a folder that takes one",
        why.text);
    CHECK_UINT(RT_CONTEXT_HOT, rt_context_store_tier(context));
    CHECK_UINT(rt_context_expected_checksum(7, BYTES), rt_context_store_checksum(context));
    rt_context_store_destroy(context);
}

/* The limit of a file's size stands for a full disk, which a test cannot make. */
static void no_room_leaves_the_content_in_memory(void) {
    rt_context_store *const context = context_of(BYTES);
    struct rlimit before;
    rt_message why = {""};
    signal(SIGXFSZ, SIG_IGN);
    CHECK_UINT(0, getrlimit(RLIMIT_FSIZE, &before));
    const struct rlimit small = {2 * CHUNK, before.rlim_max};
    CHECK_UINT(0, setrlimit(RLIMIT_FSIZE, &small));
    const rt_status status = rt_context_store_spill(context, "/tmp", &why);
    CHECK_UINT(0, setrlimit(RLIMIT_FSIZE, &before));
    CHECK_UINT(RT_IO, status);
    CHECK(strstr(why.text, "File too large") != NULL);
    CHECK_UINT(RT_CONTEXT_HOT, rt_context_store_tier(context));
    CHECK_UINT(rt_context_expected_checksum(7, BYTES), rt_context_store_checksum(context));
    CHECK_UINT(RT_OK, rt_context_store_spill(context, NULL, &why));
    rt_context_store_destroy(context);
}

static void no_memory_changes_no_tier(void) {
    rt_context_store *const context = context_of(BYTES);
    for (uint64_t more = 1; more <= 2; more++) {
        allocator.fail_at = allocator.attempts + more;
        CHECK_UINT(RT_NO_MEMORY, rt_context_store_spill(context, NULL, NULL));
        CHECK_UINT(RT_CONTEXT_HOT, rt_context_store_tier(context));
    }
    allocator.fail_at = 0;
    CHECK_UINT(RT_OK, rt_context_store_spill(context, NULL, NULL));
    allocator.fail_at = 1;
    summing_sink sink;
    CHECK_UINT(RT_NO_MEMORY, rt_context_store_restore(context, NULL));
    CHECK_UINT(RT_NO_MEMORY, serialise(context, &sink, NULL));
    allocator.fail_at = 0;
    CHECK_UINT(RT_OK, rt_context_store_restore(context, NULL));
    CHECK_UINT(rt_context_expected_checksum(7, BYTES), rt_context_store_checksum(context));
    rt_context_store_destroy(context);
}

/* ---- WARM ---- */

static void the_overview_never_passes_its_bound(void) {
    rt_context_store *const context = context_of(40 * CHUNK);
    for (uint32_t limit = 1; limit < 3500; limit += 13) {
        CHECK_UINT(RT_OK, rt_context_store_overview_make(context, limit, NULL));
        CHECK(strlen(rt_context_store_overview(context)) <= limit);
        CHECK((strlen(rt_context_store_overview(context)) > 0) == (limit >= 70));
    }
    rt_context_store_destroy(context);
}

static unsigned count_lines(const char *text) {
    unsigned lines = 0;
    for (; *text != '\0'; text++) {
        lines += *text == '\n';
    }
    return lines;
}

static void the_overview_says_what_each_section_holds(void) {
    rt_context_store *const context = context_of(2 * CHUNK + 3);
    uint8_t bytes[2 * CHUNK + 3];
    char expected[4][128];
    rt_context_formula_fill(7, 0, bytes, sizeof bytes);
    for (unsigned i = 0; i < 2; i++) {
        const uint8_t *const b = bytes + i * CHUNK;
        snprintf(expected[i], sizeof expected[i],
                 "%010" PRIx64 " 65536 %016" PRIx64
                 " %02x%02x%02x%02x%02x%02x%02x%02x%02x%02x%02x%02x%02x%02x%02x%02x\n",
                 i * CHUNK, rt_context_checksum(b, CHUNK), b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7],
                 b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
    }
    snprintf(expected[2], sizeof expected[2], "0000020000 3 %016" PRIx64 " %02x%02x%02x\n",
             rt_context_checksum(bytes + 2 * CHUNK, 3), bytes[2 * CHUNK], bytes[2 * CHUNK + 1],
             bytes[2 * CHUNK + 2]);
    snprintf(expected[3], sizeof expected[3],
             "context 0000000131075 bytes 00000003 chunks checksum %016" PRIx64 "\n",
             rt_context_checksum(bytes, sizeof bytes));
    char whole[512];
    snprintf(whole, sizeof whole, "%s%s%s%s", expected[3], expected[0], expected[1], expected[2]);
    CHECK_UINT(RT_OK, rt_context_store_overview_make(context, 3900, NULL));
    CHECK_TEXT(whole, rt_context_store_overview(context));
    CHECK_UINT(RT_OK, rt_context_store_overview_make(context, 80, NULL)); /* no section finds room */
    CHECK_TEXT(expected[3], rt_context_store_overview(context));
    rt_context_store_destroy(context);
}

static void few_bytes_show_long_sections(void) {
    rt_context_store *const context = context_of(100 * CHUNK);
    CHECK_UINT(RT_OK, rt_context_store_overview_make(context, 3900, NULL));
    CHECK_UINT(1 + (3900 - 70) / 75, count_lines(rt_context_store_overview(context)));
    rt_context_store_destroy(context);
}

static void the_overview_stays_when_the_content_is_spilled(void) {
    rt_context_store *const context = context_of(BYTES);
    CHECK_UINT(RT_OK, rt_context_store_overview_make(context, 3900, NULL));
    char before[4000];
    snprintf(before, sizeof before, "%s", rt_context_store_overview(context));
    CHECK_UINT(RT_CONTEXT_HOT, rt_context_store_tier(context));
    CHECK_UINT(RT_OK, rt_context_store_spill(context, NULL, NULL));
    CHECK_UINT(RT_CONTEXT_WARM, rt_context_store_tier(context));
    CHECK_TEXT(before, rt_context_store_overview(context));
    rt_context_store_overview_drop(context);
    CHECK(rt_context_store_overview(context) == NULL);
    CHECK_UINT(RT_CONTEXT_COLD, rt_context_store_tier(context));
    rt_context_store_destroy(context);
}

static void bounds_out_of_range_are_refused(void) {
    rt_context_store *const context = context_of(10);
    rt_message why;
    CHECK_UINT(RT_INVALID, rt_context_store_overview_make(context, 0, &why));
    CHECK_TEXT("overview_bytes is 0; choose 1 to 1048576", why.text);
    CHECK_UINT(RT_INVALID, rt_context_store_overview_make(context, (1u << 20) + 1, NULL));
    CHECK(rt_context_store_overview(context) == NULL);
    rt_context_store_destroy(context);
}

int main(void) {
    rt_allocator_init(&allocator, 0);
    spilled_content_comes_back_as_it_was();
    chunks_that_were_copied_are_spilled_from_where_they_are();
    a_spilled_content_keeps_no_memory();
    what_needs_the_content_in_memory_is_refused_without_it();
    serialisation_is_the_same_from_memory_and_from_the_file();
    a_sink_that_fails_ends_the_serialisation();
    a_changed_bit_of_the_file_is_found();
    a_truncated_file_is_found();
    an_empty_file_is_found();
    a_file_that_cannot_be_read_is_reported();
    a_damaged_file_that_is_repaired_can_be_restored();
    a_folder_that_is_missing_is_reported();
    no_room_leaves_the_content_in_memory();
    no_memory_changes_no_tier();
    the_overview_never_passes_its_bound();
    the_overview_says_what_each_section_holds();
    few_bytes_show_long_sections();
    the_overview_stays_when_the_content_is_spilled();
    bounds_out_of_range_are_refused();
    CHECK_UINT(0, allocator.live_objects);
    return check_done();
}
