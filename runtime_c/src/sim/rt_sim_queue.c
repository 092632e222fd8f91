#include "rt_sim_queue.h"

#include <stdbool.h>
#include <string.h>

#define FIRST_AHEAD 14u /* buckets */
#define SECOND_AHEAD 10u
#define THIRD_AHEAD 6u
#define SLOTS_AHEAD 3u
#define FIRST_ROOM 64u /* events in the bottom */
#define LARGE_ROOM 65536u
#define FIRST_BITS 10u
#define LAST_BITS 20u
#define FIRST_SHIFT 20u
#define CROWDED 24u /* events a bucket, on average, at which widths are chosen anew */

static bool before(const rt_sim_queue_entry *a, const rt_sim_queue_entry *b) {
    return a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->sequence < b->sequence);
}

/* ---- the bottom ---- */

static rt_status bottom_reserve(rt_sim_queue *self, size_t room) {
    if (room <= self->bottom_room) {
        return RT_OK;
    }
    const size_t wanted = room < 2 * self->bottom_room ? 2 * self->bottom_room : room;
    rt_sim_queue_entry *const larger = rt_allocate_array(self->allocator, wanted, sizeof *larger);
    if (larger == NULL) {
        return RT_NO_MEMORY;
    }
    memcpy(larger, self->bottom, self->bottom_count * sizeof *larger);
    rt_free(self->allocator, self->bottom);
    self->bottom = larger;
    self->bottom_room = wanted;
    return RT_OK;
}

/* A burst of events of one time has passed: what they needed goes back. */
static void bottom_shrink(rt_sim_queue *self) {
    rt_sim_queue_entry *const smaller = rt_allocate_array(self->allocator, FIRST_ROOM, sizeof *smaller);
    if (smaller != NULL) {
        rt_free(self->allocator, self->bottom);
        self->bottom = smaller;
        self->bottom_room = FIRST_ROOM;
    }
}

static rt_status bottom_push(rt_sim_queue *self, uint32_t slot) {
    if (bottom_reserve(self, self->bottom_count + 1) != RT_OK) {
        return RT_NO_MEMORY;
    }
    const rt_sim_queue_entry entry = {self->links[slot].at_ns, self->links[slot].sequence, slot};
    rt_sim_queue_entry *const heap = self->bottom;
    size_t at = self->bottom_count++;
    while (at > 0 && before(&entry, &heap[(at - 1) / 2])) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = entry;
    return RT_OK;
}

static uint32_t bottom_pop(rt_sim_queue *self) {
    rt_sim_queue_entry *const heap = self->bottom;
    const uint32_t slot = heap[0].slot;
    const size_t count = --self->bottom_count;
    const rt_sim_queue_entry last = heap[count];
    size_t at = 0;
    for (size_t child = 1; child < count; child = 2 * at + 1) {
        child += child + 1 < count && before(&heap[child + 1], &heap[child]);
        if (!before(&heap[child], &last)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    if (count == 0 && self->bottom_room >= LARGE_ROOM) {
        bottom_shrink(self);
    }
    return slot;
}

/* ---- the rungs ---- */

static void to_list(rt_sim_queue *self, uint32_t *head, uint32_t slot) {
    self->links[slot].next = *head;
    *head = slot;
}

/* Puts a slot whose key is set where it belongs. */
static rt_status place(rt_sim_queue *self, uint32_t slot) {
    const uint64_t bucket = self->links[slot].at_ns >> self->shift;
    if (bucket <= self->present) {
        return bottom_push(self, slot);
    }
    const uint64_t epochs = (bucket >> self->bits) - (self->present >> self->bits);
    if (epochs == 0) {
        const uint64_t index = bucket & ((UINT64_C(1) << self->bits) - 1u);
        to_list(self, &self->buckets[index], slot);
        self->filled[index / 64] |= UINT64_C(1) << index % 64;
        self->in_buckets++;
    } else if (epochs < RT_SIM_QUEUE_EPOCHS) {
        to_list(self, &self->epochs[(bucket >> self->bits) % RT_SIM_QUEUE_EPOCHS], slot);
        self->in_epochs++;
        self->far_pushes++;
    } else {
        const uint64_t at_ns = self->links[slot].at_ns;
        self->beyond_ns = self->beyond == RT_SIM_NO_SLOT || at_ns < self->beyond_ns ? at_ns : self->beyond_ns;
        to_list(self, &self->beyond, slot);
        self->far_pushes++;
    }
    return RT_OK;
}

static rt_status place_list(rt_sim_queue *self, uint32_t head, uint64_t *counter) {
    rt_status status = RT_OK;
    for (uint32_t slot = head, next; slot != RT_SIM_NO_SLOT && status == RT_OK; slot = next) {
        next = self->links[slot].next;
        *counter -= 1;
        status = place(self, slot);
    }
    return status;
}

/* The memory of a million tasks is far away: ask for what comes next before it is needed, one link of a list at a
 * time, then the tasks. */
static void fetch_ahead(const rt_sim_queue *self, uint64_t index) {
    const uint32_t *const buckets = self->buckets + index;
    if (self->slots == NULL || index + FIRST_AHEAD >= UINT64_C(1) << self->bits) {
        return;
    }
    if (buckets[FIRST_AHEAD] != RT_SIM_NO_SLOT) {
        __builtin_prefetch(&self->links[buckets[FIRST_AHEAD]]);
    }
    if (buckets[SECOND_AHEAD] != RT_SIM_NO_SLOT) {
        const uint32_t second = self->links[buckets[SECOND_AHEAD]].next;
        __builtin_prefetch(second == RT_SIM_NO_SLOT ? self->links : &self->links[second]);
    }
    if (buckets[THIRD_AHEAD] != RT_SIM_NO_SLOT) {
        const uint32_t second = self->links[buckets[THIRD_AHEAD]].next;
        const uint32_t third = second == RT_SIM_NO_SLOT ? RT_SIM_NO_SLOT : self->links[second].next;
        __builtin_prefetch(third == RT_SIM_NO_SLOT ? self->links : &self->links[third]);
    }
    for (uint32_t slot = buckets[SLOTS_AHEAD]; slot != RT_SIM_NO_SLOT; slot = self->links[slot].next) {
        const char *const lines = (const char *)&self->slots[slot];
        __builtin_prefetch(lines);
        __builtin_prefetch(lines + sizeof(rt_sim_slot) - 1u);
        __builtin_prefetch(&self->entries[slot]);
    }
}

/* Opens the next bucket of this epoch that holds something. False: there is none. */
static bool open_bucket(rt_sim_queue *self, rt_status *status) {
    const uint64_t size = UINT64_C(1) << self->bits;
    const uint64_t from = (self->present & (size - 1u)) + 1u;
    if (self->in_buckets == 0 || from == size) {
        return false;
    }
    uint64_t word = from / 64;
    uint64_t found = self->filled[word] & (~UINT64_C(0) << from % 64);
    while (found == 0) {
        found = self->filled[++word]; /* in_buckets > 0: one comes */
    }
    const uint64_t index = word * 64 + (uint64_t)__builtin_ctzll(found);
    self->filled[word] &= self->filled[word] - 1u;
    self->present = (self->present & ~(size - 1u)) | index;
    const uint32_t head = self->buckets[index];
    self->buckets[index] = RT_SIM_NO_SLOT;
    fetch_ahead(self, index);
    const uint64_t held = self->in_buckets;
    *status = place_list(self, head, &self->in_buckets);
    self->opened++;
    self->opened_events += held - self->in_buckets;
    return true;
}

/* What was beyond the epochs may be among them by now. */
static rt_status bring_near(rt_sim_queue *self) {
    const uint64_t epochs = (self->beyond_ns >> self->shift >> self->bits) - (self->present >> self->bits);
    if (self->beyond == RT_SIM_NO_SLOT || epochs >= RT_SIM_QUEUE_EPOCHS) {
        return RT_OK;
    }
    const uint32_t head = self->beyond;
    uint64_t ignored = UINT64_MAX;
    self->beyond = RT_SIM_NO_SLOT;
    return place_list(self, head, &ignored);
}

/* Goes on to the next epoch that holds something. False: there is none. */
static bool open_epoch(rt_sim_queue *self, rt_status *status) {
    *status = bring_near(self);
    if (self->in_epochs == 0) {
        return false;
    }
    uint64_t epoch = (self->present >> self->bits) + 1u;
    while (self->epochs[epoch % RT_SIM_QUEUE_EPOCHS] == RT_SIM_NO_SLOT) {
        epoch++;
    }
    self->present = (epoch << self->bits);
    const uint32_t head = self->epochs[epoch % RT_SIM_QUEUE_EPOCHS];
    self->epochs[epoch % RT_SIM_QUEUE_EPOCHS] = RT_SIM_NO_SLOT;
    *status = place_list(self, head, &self->in_epochs);
    return true;
}

/* ---- the widths ---- */

static void collect(rt_sim_queue *self, uint32_t *all, uint32_t *head) {
    for (uint32_t slot = *head, next; slot != RT_SIM_NO_SLOT; slot = next) {
        next = self->links[slot].next;
        to_list(self, all, slot);
    }
    *head = RT_SIM_NO_SLOT;
}

static uint32_t collect_all(rt_sim_queue *self) {
    uint32_t all = RT_SIM_NO_SLOT;
    for (size_t i = 0; i < self->bottom_count; i++) {
        to_list(self, &all, self->bottom[i].slot);
    }
    self->bottom_count = 0;
    for (uint64_t i = 0; self->in_buckets > 0 && i < UINT64_C(1) << self->bits; i++) {
        collect(self, &all, &self->buckets[i]);
    }
    memset(self->filled, 0, (UINT64_C(1) << self->bits) / 8);
    for (uint32_t i = 0; i < RT_SIM_QUEUE_EPOCHS; i++) {
        collect(self, &all, &self->epochs[i]);
    }
    collect(self, &all, &self->beyond);
    self->in_buckets = self->in_epochs = 0;
    return all;
}

/* The power of 2 (as exponent) that nine in ten of the pending events are nearer than. */
static unsigned reach_bits(const rt_sim_queue *self, uint32_t all, uint64_t now_ns) {
    uint64_t counts[65] = {0};
    for (uint32_t slot = all; slot != RT_SIM_NO_SLOT; slot = self->links[slot].next) {
        const uint64_t away = self->links[slot].at_ns - now_ns;
        counts[away == 0 ? 0 : 64 - __builtin_clzll(away)]++;
    }
    uint64_t seen = counts[0];
    unsigned bits = 0;
    while (bits < 62 && seen < self->count - self->count / 10) {
        seen += counts[++bits];
    }
    return bits;
}

static rt_status allocate_buckets(rt_sim_queue *self, unsigned bits) {
    const uint64_t size = UINT64_C(1) << bits;
    uint32_t *const buckets = rt_allocate_array(self->allocator, size, sizeof *buckets);
    uint64_t *const filled = rt_allocate_array(self->allocator, size / 64, sizeof *filled);
    if (buckets == NULL || filled == NULL) {
        rt_free(self->allocator, buckets);
        rt_free(self->allocator, filled);
        return RT_NO_MEMORY;
    }
    memset(buckets, 0xff, size * sizeof *buckets);
    rt_free(self->allocator, self->buckets);
    rt_free(self->allocator, self->filled);
    self->buckets = buckets;
    self->filled = filled;
    self->bits = bits;
    return RT_OK;
}

/* Two to four events a bucket where they are dense, and most of them in this epoch. */
static rt_status choose_widths(rt_sim_queue *self, uint64_t now_ns) {
    const uint32_t all = collect_all(self);
    unsigned bits = FIRST_BITS;
    while (bits < LAST_BITS && (UINT64_C(1) << bits) < self->count) {
        bits++;
    }
    rt_status status = bits == self->bits ? RT_OK : allocate_buckets(self, bits);
    if (self->count > 0) {
        const unsigned span = reach_bits(self, all, now_ns) + 1u;
        self->shift = span > self->bits ? span - self->bits : 0;
    }
    self->present = now_ns >> self->shift;
    uint64_t ignored = UINT64_MAX;
    const rt_status placed = place_list(self, all, &ignored);
    self->opened = self->opened_events = self->far_pushes = self->pushes = 0;
    return status == RT_OK ? placed : status;
}

static bool widths_are_bad(const rt_sim_queue *self) {
    const uint64_t size = UINT64_C(1) << self->bits;
    const bool grown = self->bits < LAST_BITS && self->count > 2 * size;
    const bool judged = self->pushes > 8 * self->count + 4096;
    return grown ||
           (judged && (self->opened_events > CROWDED * self->opened || 2 * self->far_pushes > self->pushes));
}

/* ---- the interface ---- */

rt_status rt_sim_queue_init(rt_sim_queue *self, rt_sim_link *links, rt_allocator *allocator) {
    *self = (rt_sim_queue){
        .links = links, .allocator = allocator, .shift = FIRST_SHIFT, .beyond = RT_SIM_NO_SLOT};
    memset(self->epochs, 0xff, sizeof self->epochs);
    self->bottom = rt_allocate_array(allocator, FIRST_ROOM, sizeof *self->bottom);
    if (self->bottom == NULL || allocate_buckets(self, FIRST_BITS) != RT_OK) {
        rt_sim_queue_reset(self);
        return RT_NO_MEMORY;
    }
    self->bottom_room = FIRST_ROOM;
    return RT_OK;
}

void rt_sim_queue_reset(rt_sim_queue *self) {
    rt_free(self->allocator, self->bottom);
    rt_free(self->allocator, self->buckets);
    rt_free(self->allocator, self->filled);
    self->bottom = NULL;
    self->buckets = NULL;
    self->filled = NULL;
    self->count = 0;
}

rt_status rt_sim_queue_push(rt_sim_queue *self, uint32_t slot, uint64_t at_ns) {
    self->links[slot].at_ns = at_ns;
    self->links[slot].sequence = self->sequence++;
    self->pushes++;
    self->count++;
    return place(self, slot);
}

uint32_t rt_sim_queue_pop(rt_sim_queue *self, rt_status *status) {
    while (self->bottom_count == 0 && *status == RT_OK) {
        if (self->count == 0) {
            return RT_SIM_NO_SLOT;
        }
        if (!open_bucket(self, status) && !open_epoch(self, status)) {
            *status = choose_widths(self, self->beyond_ns);
        }
    }
    if (*status != RT_OK) {
        return RT_SIM_NO_SLOT;
    }
    if (widths_are_bad(self)) {
        *status = choose_widths(self, self->bottom[0].at_ns);
    }
    self->count--;
    return bottom_pop(self);
}
