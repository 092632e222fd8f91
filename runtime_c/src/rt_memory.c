#include "rt_memory.h"

#include "rt_proc.h"

rt_status rt_memory_read(const char *root, rt_memory_usage *out) {
    char text[8192], threads[32];
    bool complete = rt_proc_read(root, "/proc/self/status", text, sizeof text) &&
                    rt_proc_kibibytes(text, "VmRSS", &out->rss_bytes) &&
                    rt_proc_kibibytes(text, "VmHWM", &out->peak_rss_bytes) &&
                    rt_proc_kibibytes(text, "RssAnon", &out->rss_anon_bytes) &&
                    rt_proc_kibibytes(text, "RssFile", &out->rss_file_bytes) &&
                    rt_proc_kibibytes(text, "VmSize", &out->virtual_bytes) &&
                    rt_proc_line(text, "Threads", threads, sizeof threads) &&
                    rt_proc_number(threads, &out->threads);
    return complete ? RT_OK : RT_IO;
}

bool rt_memory_pss(const char *root, uint64_t *bytes) {
    char text[4096];
    return rt_proc_read(root, "/proc/self/smaps_rollup", text, sizeof text) &&
           rt_proc_kibibytes(text, "Pss", bytes);
}
