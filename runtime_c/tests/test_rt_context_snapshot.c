#include "rt_context_store.h"

#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define CHUNK ((uint64_t)RT_CONTEXT_CHUNK_BYTES)

static rt_allocator allocator;

static rt_context_store *context_of(uint64_t bytes) {
    rt_context_store *context;
    CHECK_UINT(RT_OK, rt_context_store_create(&allocator, bytes, 7, &context, NULL));
    return context;
}

static rt_context_snapshot *snapshot_of(rt_context_store *context) {
    rt_context_snapshot *snapshot;
    CHECK_UINT(RT_OK, rt_context_snapshot_take(context, &snapshot, NULL));
    return snapshot;
}

static void rewrite(rt_context_store *context, uint64_t chunk, uint8_t value) {
    uint8_t *bytes;
    size_t count;
    CHECK_UINT(RT_OK, rt_context_store_edit(context, chunk, &bytes, &count, NULL));
    memset(bytes, value, count);
}

static rt_context_bytes account_of(rt_context_store *context) {
    rt_context_bytes bytes;
    rt_context_store_account(context, &bytes);
    return bytes;
}

static void a_snapshot_keeps_what_the_head_held(void) {
    rt_context_store *const context = context_of(4 * CHUNK + 100);
    const uint64_t before = rt_context_store_checksum(context);
    rt_context_snapshot *const snapshot = snapshot_of(context);
    rewrite(context, 1, 0xaa);
    rewrite(context, 4, 0xbb);
    CHECK(rt_context_store_checksum(context) != before);
    CHECK_UINT(before, rt_context_snapshot_checksum(snapshot));
    CHECK_UINT(rt_context_expected_probe(7, 4 * CHUNK + 100, RT_ACCESS_UNIFORM, 3, 640),
               rt_context_snapshot_probe(snapshot, RT_ACCESS_UNIFORM, 3, 640));
    rt_context_store_rollback(context, snapshot);
    CHECK_UINT(before, rt_context_store_checksum(context));
    CHECK_UINT(before, rt_context_snapshot_checksum(snapshot));
    rt_context_snapshot_drop(snapshot);
    CHECK_UINT(before, rt_context_store_checksum(context));
    rt_context_store_destroy(context);
}

static void only_what_is_rewritten_is_copied_and_only_once(void) {
    rt_context_store *const context = context_of(8 * CHUNK + 10);
    rewrite(context, 0, 1);
    CHECK_UINT(0, account_of(context).bytes_copied); /* nobody shares it */
    rt_context_snapshot *const snapshot = snapshot_of(context);
    CHECK_UINT(9, account_of(context).chunks_shared);
    rewrite(context, 2, 1);
    rewrite(context, 2, 2);
    rewrite(context, 8, 1);
    CHECK_UINT(CHUNK + 10, account_of(context).bytes_copied);
    CHECK_UINT(7, account_of(context).chunks_shared);
    rt_context_snapshot_drop(snapshot);
    CHECK_UINT(0, account_of(context).chunks_shared);
    rewrite(context, 3, 1);
    CHECK_UINT(CHUNK + 10, account_of(context).bytes_copied);
    rt_context_store_destroy(context);
}

/* A hundred cycles need the memory of one. */
static void released_chunks_are_used_again(void) {
    rt_context_store *const context = context_of(40 * CHUNK);
    uint64_t copies = 0;
    for (unsigned cycle = 0; cycle < 100; cycle++) {
        rt_context_snapshot *const snapshot = snapshot_of(context);
        for (uint64_t chunk = 0; chunk < 20; chunk++) {
            rewrite(context, (chunk * 7 + cycle) % 40, (uint8_t)cycle);
        }
        rt_context_store_rollback(context, snapshot);
        rt_context_snapshot_drop(snapshot);
        copies = cycle == 0 ? account_of(context).copy_bytes : copies;
        CHECK_UINT(copies, account_of(context).copy_bytes);
        CHECK_UINT(copies / CHUNK, account_of(context).chunks_free);
    }
    CHECK(copies >= 20 * CHUNK && copies < 40 * CHUNK);
    CHECK_UINT(rt_context_expected_checksum(7, 40 * CHUNK), rt_context_store_checksum(context));
    rt_context_store_destroy(context);
}

static void a_held_snapshot_outlives_its_first_drop(void) {
    rt_context_store *const context = context_of(2 * CHUNK);
    const uint64_t before = rt_context_store_checksum(context);
    rt_context_snapshot *const snapshot = snapshot_of(context);
    rt_context_snapshot_hold(snapshot);
    rt_context_snapshot_drop(snapshot);
    rewrite(context, 0, 9);
    CHECK_UINT(before, rt_context_snapshot_checksum(snapshot));
    CHECK_UINT(1, account_of(context).snapshots);
    rt_context_snapshot_drop(snapshot);
    CHECK_UINT(0, account_of(context).snapshots);
    rt_context_snapshot_drop(NULL);
    rt_context_store_destroy(context);
}

static void chunks_that_do_not_exist_are_refused(void) {
    rt_context_store *const context = context_of(2 * CHUNK);
    uint8_t *bytes;
    size_t count;
    rt_message why;
    CHECK_UINT(RT_INVALID, rt_context_store_edit(context, 2, &bytes, &count, &why));
    CHECK_TEXT("chunk 2 is none of the 2 of the context", why.text);
    rt_context_store_destroy(context);
}

/* With every allocation after `create` failing in turn: what could not be done left everything as it was. */
static void no_memory_leaves_head_and_snapshots_as_they_were(void) {
    for (uint64_t more = 1; more <= 6; more++) {
        rt_context_store *context;
        rt_context_snapshot *snapshot = NULL;
        rt_message why = {""};
        uint8_t *bytes;
        size_t count;
        CHECK_UINT(RT_OK, rt_context_store_create(&allocator, 3 * CHUNK, 7, &context, NULL));
        allocator.fail_at = allocator.attempts + more;
        const rt_status took = rt_context_snapshot_take(context, &snapshot, &why);
        const rt_status edited =
            snapshot != NULL ? rt_context_store_edit(context, 1, &bytes, &count, &why) : took;
        allocator.fail_at = 0;
        CHECK_UINT(RT_NO_MEMORY, edited);
        CHECK(why.text[0] != '\0');
        CHECK_UINT(rt_context_expected_checksum(7, 3 * CHUNK), rt_context_store_checksum(context));
        rt_context_snapshot_drop(snapshot);
        rt_context_store_destroy(context);
    }
}

/* ---- random sequences against plain buffers ---- */

#define MODEL_CHUNKS 23u
#define MODEL_BYTES ((MODEL_CHUNKS - 1u) * CHUNK + 777u)
#define MODEL_SNAPSHOTS 4u

typedef struct model {
    rt_context_store *store;
    uint8_t *head;
    rt_context_snapshot *snapshots[MODEL_SNAPSHOTS];
    uint8_t *kept[MODEL_SNAPSHOTS];
    rt_random random;
} model;

static void model_rewrite(model *self) {
    const uint64_t chunk = rt_random_below(&self->random, MODEL_CHUNKS);
    uint8_t *bytes;
    size_t count;
    CHECK_UINT(RT_OK, rt_context_store_edit(self->store, chunk, &bytes, &count, NULL));
    const size_t at = (size_t)rt_random_below(&self->random, count);
    const uint8_t value = (uint8_t)rt_random_next(&self->random);
    bytes[at] = value;
    bytes[count - 1] = (uint8_t)~value;
    self->head[chunk * CHUNK + at] = value;
    self->head[chunk * CHUNK + count - 1] = (uint8_t)~value;
}

static void model_snapshot(model *self, unsigned i) {
    if (self->snapshots[i] == NULL) {
        self->snapshots[i] = snapshot_of(self->store);
        memcpy(self->kept[i], self->head, MODEL_BYTES);
    } else {
        rt_context_snapshot_drop(self->snapshots[i]);
        self->snapshots[i] = NULL;
    }
}

static void model_rollback(model *self, unsigned i) {
    if (self->snapshots[i] != NULL) {
        rt_context_store_rollback(self->store, self->snapshots[i]);
        memcpy(self->head, self->kept[i], MODEL_BYTES);
    }
}

/* Refused as long as a snapshot lives; leaves the content as it was in any case. */
static void model_spill_and_restore(model *self) {
    bool any = false;
    for (unsigned i = 0; i < MODEL_SNAPSHOTS; i++) {
        any = any || self->snapshots[i] != NULL;
    }
    CHECK_UINT(any ? RT_BUSY : RT_OK, rt_context_store_spill(self->store, NULL, NULL));
    CHECK_UINT(any ? RT_BUSY : RT_OK, rt_context_store_restore(self->store, NULL));
}

static void model_compare(const model *self) {
    size_t count;
    for (uint64_t chunk = 0; chunk < MODEL_CHUNKS; chunk++) {
        const uint8_t *const bytes = rt_context_store_chunk(self->store, chunk, &count);
        CHECK(memcmp(bytes, self->head + chunk * CHUNK, count) == 0);
    }
    for (unsigned i = 0; i < MODEL_SNAPSHOTS; i++) {
        if (self->snapshots[i] != NULL) {
            CHECK_UINT(rt_context_checksum(self->kept[i], MODEL_BYTES),
                       rt_context_snapshot_checksum(self->snapshots[i]));
        }
    }
}

static void probe_as_the_model(const model *self, uint64_t task) {
    for (unsigned p = 0; p < RT_ACCESS_PATTERNS; p++) {
        uint64_t sum = 1;
        for (uint32_t i = 0; i < 200; i++) {
            sum = rt_context_fold_byte(
                sum, self->head[rt_access_offset((rt_access_pattern)p, task, i, MODEL_BYTES)]);
        }
        CHECK_UINT(sum, rt_context_store_probe(self->store, (rt_access_pattern)p, task, 200));
    }
}

static void random_sequences_agree_with_a_plain_buffer(uint64_t seed) {
    model self = {.store = context_of(MODEL_BYTES), .head = malloc(MODEL_BYTES)};
    rt_random_init(&self.random, seed);
    rt_context_formula_fill(7, 0, self.head, MODEL_BYTES);
    for (unsigned i = 0; i < MODEL_SNAPSHOTS; i++) {
        self.kept[i] = malloc(MODEL_BYTES);
    }
    for (unsigned step = 0; step < 400; step++) {
        const uint64_t what = rt_random_below(&self.random, 11);
        const unsigned which = (unsigned)rt_random_below(&self.random, MODEL_SNAPSHOTS);
        if (what < 7) {
            model_rewrite(&self);
        } else if (what < 9) {
            model_snapshot(&self, which);
        } else if (what < 10) {
            model_rollback(&self, which);
        } else {
            model_spill_and_restore(&self);
        }
        if (step % 20 == 0) {
            model_compare(&self);
            probe_as_the_model(&self, step);
        }
    }
    model_compare(&self);
    for (unsigned i = 0; i < MODEL_SNAPSHOTS; i++) {
        rt_context_snapshot_drop(self.snapshots[i]);
        free(self.kept[i]);
    }
    CHECK_UINT(0, account_of(self.store).chunks_shared);
    CHECK_UINT(account_of(self.store).copy_bytes / CHUNK, account_of(self.store).chunks_free);
    rt_context_store_destroy(self.store);
    free(self.head);
}

/* ---- readers beside a mutator ---- */

#define READERS 3u
#define SHARED_BYTES (9u * CHUNK + 5u)

typedef struct readers {
    rt_context_snapshot *snapshot; /* one holder a reader */
    atomic_int stop;
    atomic_uint started;
    _Atomic uint64_t wrong;
} readers;

static void *read_on(void *context) {
    readers *const self = context;
    atomic_fetch_add(&self->started, 1);
    for (uint64_t task = 0; !atomic_load(&self->stop) || task < 50; task++) {
        const rt_access_pattern pattern = (rt_access_pattern)(task % RT_ACCESS_PATTERNS);
        const uint64_t expected = rt_context_expected_probe(7, SHARED_BYTES, pattern, task, 64);
        if (rt_context_snapshot_probe(self->snapshot, pattern, task, 64) != expected) {
            atomic_fetch_add(&self->wrong, 1);
        }
    }
    rt_context_snapshot_drop(self->snapshot);
    return NULL;
}

/* The readers' last drops fall into the mutator's cycles. */
static void readers_see_their_snapshot_while_the_head_is_rewritten_and_rolled_back(void) {
    rt_context_store *const context = context_of(SHARED_BYTES);
    const uint64_t before = rt_context_store_checksum(context);
    readers shared = {.snapshot = snapshot_of(context)};
    pthread_t threads[READERS];
    for (unsigned i = 0; i < READERS; i++) {
        rt_context_snapshot_hold(shared.snapshot);
        CHECK_UINT(0, pthread_create(&threads[i], NULL, read_on, &shared));
    }
    rt_context_snapshot_drop(shared.snapshot);
    for (unsigned cycle = 0; cycle < 300 || atomic_load(&shared.started) < READERS; cycle++) {
        rt_context_snapshot *const snapshot = snapshot_of(context);
        for (uint64_t chunk = 0; chunk < 10; chunk += 1 + cycle % 3) {
            rewrite(context, chunk, (uint8_t)cycle);
        }
        rt_context_store_rollback(context, snapshot);
        rt_context_snapshot_drop(snapshot);
        atomic_store(&shared.stop, cycle > 200);
    }
    for (unsigned i = 0; i < READERS; i++) {
        pthread_join(threads[i], NULL);
    }
    CHECK_UINT(0, shared.wrong);
    CHECK_UINT(before, rt_context_store_checksum(context));
    CHECK_UINT(0, account_of(context).snapshots);
    rt_context_store_destroy(context);
}

int main(void) {
    rt_allocator_init(&allocator, 0);
    a_snapshot_keeps_what_the_head_held();
    only_what_is_rewritten_is_copied_and_only_once();
    released_chunks_are_used_again();
    a_held_snapshot_outlives_its_first_drop();
    chunks_that_do_not_exist_are_refused();
    no_memory_leaves_head_and_snapshots_as_they_were();
    for (uint64_t seed = 1; seed <= 8; seed++) {
        random_sequences_agree_with_a_plain_buffer(seed);
    }
    readers_see_their_snapshot_while_the_head_is_rewritten_and_rolled_back();
    CHECK_UINT(0, allocator.live_objects);
    return check_done();
}
