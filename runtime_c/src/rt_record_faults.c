/* What was injected into the tasks and their provider, and what became of it, tenant by tenant. */
#include "rt_record_parts.h"

#include <stdio.h>

static void write_outage(rt_json *json, const rt_workload_faults *faults) {
    const rt_backlog_outage *const outage = &faults->outage;
    if (!faults->has_outage) {
        rt_json_null(json, "outage");
        return;
    }
    rt_json_object_begin(json, "outage");
    rt_json_uint(json, "queue_before", outage->before);
    rt_json_uint(json, "queue_peak", outage->peak);
    rt_json_bool(json, "recovered", outage->recovered);
    if (outage->recovered) {
        rt_json_double(json, "recovery_ms", rt_record_ms(outage->recovery_ns));
    } else {
        rt_json_null(json, "recovery_ms");
    }
    rt_json_object_end(json);
}

static void write_tenant(rt_json *json, const rt_workload_result *result, uint32_t tenant) {
    char key[RT_RECORD_KEY_BYTES];
    rt_tenant_counts counts;
    rt_histogram end_to_end;
    rt_histogram_init(&end_to_end);
    rt_tenants_count(result->tenants, tenant, &counts);
    rt_tenants_merge(result->tenants, tenant, &end_to_end);
    snprintf(key, sizeof key, "t%u", tenant);
    rt_json_object_begin(json, key);
    rt_json_uint(json, "completed", counts.completed);
    rt_json_uint(json, "failed", counts.failed);
    rt_json_uint(json, "timed_out", counts.timed_out);
    rt_json_uint(json, "provider_calls", result->faults.provider.tenant_calls[tenant]);
    rt_record_write_histogram(json, "end_to_end", &end_to_end, 1);
    rt_json_object_end(json);
}

void rt_record_write_faults(rt_json *json, const rt_workload_result *result) {
    const rt_workload_faults *const faults = &result->faults;
    const rt_provider_counts *const provider = &faults->provider;
    if (!faults->any) {
        return;
    }
    rt_json_object_begin(json, "faults");
    rt_json_uint(json, "failed_chosen", faults->failed_chosen);
    rt_json_uint(json, "slow_chosen", faults->slow_chosen);
    rt_json_uint(json, "cancels_asked", faults->cancels_asked);
    rt_json_uint(json, "provider_calls", provider->calls);
    rt_json_uint(json, "provider_errors", provider->errors);
    rt_json_uint(json, "retries", provider->retries);
    if (provider->callers > 0) {
        rt_json_double(json, "amplification", (double)provider->calls / (double)provider->callers);
    } else {
        rt_json_null(json, "amplification");
    }
    write_outage(json, faults);
    rt_json_object_begin(json, "tenants");
    for (uint32_t tenant = 0; tenant < rt_tenants_number(result->tenants); tenant++) {
        write_tenant(json, result, tenant);
    }
    rt_json_object_end(json);
    rt_json_object_end(json);
}
