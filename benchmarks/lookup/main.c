/* One index and one thing to do with it: lookup-bench INDEX build|hit|miss|change ROLES TASKS.
 *
 * build: TASKS = ROLES are added in the order of their numbers; the bytes are the growth of RssAnon.
 * hit, miss: TASKS lookups of names that are there, or are not, in random order; the index stands before.
 * change: half of the roles are removed in random order and added again; TASKS = 2 * (ROLES / 2). */
#include "lookup.h"
#include "measure.h"

#include "rt_random.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 29u

static void fail(const char *what) {
    fprintf(stderr, "lookup-bench: %s\n", what);
    exit(1);
}

static lookup_name name_of(uint64_t role) {
    lookup_name name = {.text = "role-", .bytes = 5};
    uint64_t unit = 1;
    while (role / unit >= 10) {
        unit *= 10;
    }
    for (; unit > 0 && name.bytes < sizeof name.text; unit /= 10) {
        name.text[name.bytes++] = (char)('0' + (int)(role / unit % 10));
    }
    return name;
}

static lookup_name *names_in_order(uint64_t count) {
    lookup_name *const names = malloc(count * sizeof *names);
    for (uint64_t i = 0; names != NULL && i < count; i++) {
        names[i] = name_of(i);
    }
    return names;
}

static lookup_name *names_at_random(uint64_t count, uint64_t first, uint64_t roles) {
    lookup_name *const names = malloc(count * sizeof *names);
    for (uint64_t i = 0; names != NULL && i < count; i++) {
        names[i] = name_of(first + rt_random_scale(rt_random_at(SEED, i), roles));
    }
    return names;
}

static void shuffle(lookup_name *names, uint64_t count) {
    rt_random random;
    rt_random_init(&random, SEED);
    for (uint64_t i = count; i > 1; i--) {
        const uint64_t at = rt_random_below(&random, i);
        const lookup_name kept = names[i - 1];
        names[i - 1] = names[at];
        names[at] = kept;
    }
}

static void add_all(const lookup_index *type, void *index, const lookup_name *names, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        type->add(index, &names[i]);
    }
    if (type->settle != NULL) {
        type->settle(index);
    }
}

/* What was found, so that all sides can be seen to find the same. */
static uint64_t checksum_of(const char *found, const lookup_name *name) {
    return found == NULL ? 1 : (uint64_t)(unsigned char)found[name->bytes - 1] * 31u + name->bytes;
}

static void change(const lookup_index *type, void *index, lookup_name *all, uint64_t roles,
                   measure_outcome *outcome) {
    shuffle(all, roles);
    const measure_usage before = measure_usage_read();
    for (uint64_t i = 0; i < outcome->tasks / 2; i++) {
        type->remove(index, &all[i]);
    }
    for (uint64_t i = 0; i < outcome->tasks / 2; i++) {
        type->add(index, &all[i]);
    }
    measure_usage_since(&before, outcome);
    for (uint64_t i = 0; i < roles; i++) {
        if (type->find(index, &all[i]) == NULL) {
            fail("a role is missing");
        }
    }
}

static void run(const lookup_index *type, const char *what, uint64_t roles, measure_outcome *outcome) {
    const uint64_t tasks = outcome->tasks;
    lookup_name *const all = names_in_order(roles);
    const bool miss = strcmp(what, "miss") == 0;
    lookup_name *const asked = names_at_random(tasks, miss ? roles : 0, roles);
    if (all == NULL || asked == NULL) {
        fail("there is no memory for the names");
    }
    const bool build = strcmp(what, "build") == 0;
    const uint64_t before_bytes = measure_rss_anon_bytes();
    measure_usage before = measure_usage_read();
    void *const index = type->create((uint32_t)roles);
    add_all(type, index, all, roles);
    if (build) {
        measure_usage_since(&before, outcome);
        outcome->backlog_bytes = measure_rss_anon_bytes() - before_bytes;
        for (uint64_t i = 0; i < tasks; i++) {
            outcome->checksum += checksum_of(type->find(index, &asked[i]), &asked[i]);
        }
        return;
    }
    if (strcmp(what, "change") == 0) {
        change(type, index, all, roles, outcome);
        return;
    }
    before = measure_usage_read();
    for (uint64_t i = 0; i < tasks; i++) {
        outcome->checksum += checksum_of(type->find(index, &asked[i]), &asked[i]);
    }
    measure_usage_since(&before, outcome);
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        const lookup_index *type;
    } types[] = {{"tallymark", &lookup_tallymark},
                 {"unordered_map", &lookup_unordered_map},
                 {"sorted_array", &lookup_sorted_array}};
    if (count != 5) {
        fail("usage: lookup-bench INDEX build|hit|miss|change ROLES TASKS");
    }
    measure_outcome outcome = {.tasks = strtoull(arguments[4], NULL, 10)};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(arguments[1], types[i].name) == 0) {
            run(types[i].type, arguments[2], strtoull(arguments[3], NULL, 10), &outcome);
            measure_print(&outcome);
            return 0;
        }
    }
    fail("there is no such index");
    return 1;
}
