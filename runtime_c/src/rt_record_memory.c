/* Memory: by the kernel's account, by the allocator's, and by owner. */
#include "rt_record_parts.h"

#include <stdio.h>

static void owner_key(char key[48], int owner) {
    snprintf(key, 48, "%s_bytes", rt_owner_name((rt_owner)owner));
}

/* Stacks stand with what of them is in RAM: the rest is address space. */
static void write_owners(rt_json *json, const rt_memory_account *account) {
    char key[48];
    rt_json_object_begin(json, "owners");
    for (int owner = 0; owner < RT_OWNERS; owner++) {
        owner_key(key, owner);
        rt_json_uint(json, key, account->owners[owner].allocated_bytes);
    }
    rt_json_object_end(json);
}

/* What the process grew by, whose it is, and what of it nobody claims. */
static void write_growth(rt_json *json, const rt_record *record) {
    const rt_memory_account *const account = &record->account;
    const int64_t growth =
        (int64_t)record->memory_after.rss_anon_bytes - (int64_t)record->memory_at_create.rss_anon_bytes;
    char key[48];
    rt_json_uint(json, "rss_anon_at_start_bytes", record->memory_at_create.rss_anon_bytes);
    rt_json_int(json, "rss_growth_bytes", growth);
    rt_json_object_begin(json, "resident");
    for (int owner = 0; owner < RT_OWNERS; owner++) {
        owner_key(key, owner);
        rt_json_uint(json, key, account->owners[owner].resident_bytes);
    }
    rt_json_object_end(json);
    rt_json_int(json, "unexplained_bytes", growth - (int64_t)rt_memory_account_resident(account));
    rt_json_uint(json, "stack_reserved_bytes", account->stack_reserved_bytes);
    rt_json_string(json, "resident_api", rt_memory_resident_api());
}

void rt_record_write_memory(rt_json *json, const rt_record *record) {
    const rt_memory_account *const account = &record->account;
    rt_json_object_begin(json, "memory");
    rt_json_string(json, "rss_api", RT_MEMORY_RSS_API);
    rt_json_uint(json, "rss_anon_at_end_bytes", record->memory_after.rss_anon_bytes);
    rt_json_uint(json, "rss_file_at_end_bytes", record->memory_after.rss_file_bytes);
    rt_record_write_optional(json, "pss_at_end_bytes", &record->pss_bytes);
    rt_json_uint(json, "virtual_at_end_bytes", record->memory_after.virtual_bytes);
    rt_record_write_optional(json, "cgroup_current_bytes", &record->cgroup_current_bytes);
    rt_record_write_optional(json, "cgroup_peak_bytes", &record->cgroup_peak_bytes);
    rt_json_uint(json, "allocated_total_bytes", account->allocated_total_bytes);
    rt_json_uint(json, "allocations", account->allocations);
    rt_json_uint(json, "live_objects", account->live_objects);
    write_owners(json, account);
    write_growth(json, record);
    rt_json_object_begin(json, "unavailable");
    rt_record_write_reason(json, "pss_at_end_bytes", record->pss_bytes.missing);
    rt_record_write_reason(json, "cgroup_current_bytes", record->cgroup_current_bytes.missing);
    rt_record_write_reason(json, "cgroup_peak_bytes", record->cgroup_peak_bytes.missing);
    rt_json_object_end(json);
    rt_json_object_end(json);
}
