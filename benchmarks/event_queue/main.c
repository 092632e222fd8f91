/* The simulator's event queue beside the two that one would take instead. The hold model: so many events pending, each
 * pop plans its event anew at an exponential distance. One task is one pop and one push. Behind each event stands a
 * task of 80 bytes that is touched, as the simulator does: what the queue costs is also what it pushes out of the
 * cache. */
#include "measure.h"

#include "rt_random.h"
#include "rt_sim_queue.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEAN_NS 1000000000u

typedef struct event {
    uint64_t at_ns, sequence;
    uint32_t slot;
} event;

static rt_sim_slot *slots;
static rt_sim_link *links;
static uint64_t pending;

static bool before(const event *a, const event *b) {
    return a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->sequence < b->sequence);
}

/* ---- a heap with four children ---- */

static event *heap;
static uint64_t heap_count;

static void heap_push(event entry) {
    uint64_t at = heap_count++;
    while (at > 0 && before(&entry, &heap[(at - 1) / 4])) {
        heap[at] = heap[(at - 1) / 4];
        at = (at - 1) / 4;
    }
    heap[at] = entry;
}

static event heap_pop(void) {
    const event least = heap[0], last = heap[--heap_count];
    uint64_t at = 0;
    for (uint64_t first = 1; first < heap_count; first = 4 * at + 1) {
        const uint64_t end = first + 4 < heap_count ? first + 4 : heap_count;
        uint64_t best = first;
        for (uint64_t child = first + 1; child < end; child++) {
            best = before(&heap[child], &heap[best]) ? child : best;
        }
        if (!before(&heap[best], &last)) {
            break;
        }
        heap[at] = heap[best];
        at = best;
    }
    heap[at] = last;
    return least;
}

/* ---- a calendar: sorted lists, one event a list on average, which is the best width for it ---- */

static uint32_t *days;
static uint64_t day_bits, width_ns, today;

static void calendar_push(uint32_t slot) {
    uint32_t *place = &days[links[slot].at_ns / width_ns & ((UINT64_C(1) << day_bits) - 1)];
    for (const rt_sim_link *const new = &links[slot]; *place != RT_SIM_NO_SLOT; place = &links[*place].next) {
        const rt_sim_link *const there = &links[*place];
        if (new->at_ns < there->at_ns || (new->at_ns == there->at_ns && new->sequence < there->sequence)) {
            break;
        }
    }
    links[slot].next = *place;
    *place = slot;
}

static uint32_t calendar_pop(void) {
    for (;; today++) {
        uint32_t *const day = &days[today & ((UINT64_C(1) << day_bits) - 1)];
        if (*day != RT_SIM_NO_SLOT && links[*day].at_ns / width_ns == today) {
            const uint32_t slot = *day;
            *day = links[slot].next;
            return slot;
        }
    }
}

/* ---- the hold model ---- */

static uint64_t now_ns, sequence, checksum;
static bool ties; /* every distance is the mean: what constant latencies after a burst give */

static uint64_t gap_of(uint32_t slot) {
    slots[slot].cost_pusd++; /* the task is touched */
    checksum = checksum * 31u + now_ns;
    rt_random random = {{sequence, slot, now_ns, 1}};
    const uint64_t bits = rt_random_next(&random) ^ rt_random_mix(sequence);
    const uint64_t zeros = bits == 0 ? 64 : (uint64_t)__builtin_clzll(bits); /* exponential, roughly, and cheap */
    return ties ? MEAN_NS : zeros * (MEAN_NS / 2) + ((bits << 1 >> 40) * MEAN_NS >> 25);
}

static void run_heap(uint64_t pops) {
    for (uint32_t slot = 0; slot < pending; slot++) {
        heap_push((event){gap_of(slot), sequence, slot});
        sequence++;
    }
    for (uint64_t i = 0; i < pops; i++) {
        const event next = heap_pop();
        now_ns = next.at_ns;
        heap_push((event){now_ns + gap_of(next.slot), sequence, next.slot});
        sequence++;
    }
}

static void plan_in_calendar(uint32_t slot) {
    links[slot].at_ns = now_ns + gap_of(slot);
    links[slot].sequence = sequence++;
    calendar_push(slot);
}

static void run_calendar(uint64_t pops) {
    for (uint32_t slot = 0; slot < pending; slot++) {
        plan_in_calendar(slot);
    }
    for (uint64_t i = 0; i < pops; i++) {
        const uint32_t slot = calendar_pop();
        now_ns = links[slot].at_ns;
        plan_in_calendar(slot);
    }
}

static void run_ladder(uint64_t pops) {
    static rt_allocator allocator;
    static rt_sim_entry *entries;
    rt_sim_queue queue;
    rt_status status = RT_OK;
    rt_allocator_init(&allocator, 0);
    entries = calloc(pending, sizeof *entries);
    if (entries == NULL || rt_sim_queue_init(&queue, links, &allocator) != RT_OK) {
        exit(1);
    }
    queue.slots = slots;
    queue.entries = entries;
    for (uint32_t slot = 0; slot < pending; slot++) {
        status = rt_sim_queue_push(&queue, slot, gap_of(slot));
        sequence++;
    }
    for (uint64_t i = 0; i < pops && status == RT_OK; i++) {
        const uint32_t slot = rt_sim_queue_pop(&queue, &status);
        now_ns = links[slot].at_ns;
        status = rt_sim_queue_push(&queue, slot, now_ns + gap_of(slot));
        sequence++;
    }
}

static const struct {
    const char *name;
    void (*run)(uint64_t pops);
} cases[] = {{"heap", run_heap}, {"calendar", run_calendar}, {"ladder", run_ladder}};

static void allocate(void) {
    while ((UINT64_C(1) << day_bits) < 2 * pending) {
        day_bits++;
    }
    width_ns = MEAN_NS / pending;
    slots = calloc(pending, sizeof *slots);
    links = calloc(pending, sizeof *links);
    heap = malloc(pending * sizeof *heap);
    days = malloc(sizeof *days << day_bits);
    if (slots == NULL || links == NULL || heap == NULL || days == NULL) {
        exit(1);
    }
    memset(days, 0xff, sizeof *days << day_bits);
}

int main(int count, char **arguments) {
    pending = count == 5 ? strtoull(arguments[2], NULL, 10) : 0;
    const uint64_t pops = count == 5 ? strtoull(arguments[3], NULL, 10) : 0;
    ties = count == 5 && strcmp(arguments[4], "ties") == 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0] && pending > 0; i++) {
        if (strcmp(cases[i].name, arguments[1]) == 0) {
            allocate();
            const measure_usage start = measure_usage_read();
            cases[i].run(pops);
            measure_outcome outcome = {.tasks = pops + pending, .checksum = checksum};
            measure_usage_since(&start, &outcome);
            outcome.memory_bytes = measure_peak_bytes();
            measure_print(&outcome);
            return 0;
        }
    }
    fprintf(stderr, "usage: event_queue-bench heap|calendar|ladder PENDING POPS spread|ties\n");
    return 2;
}
