#include "rt_memory.h"

#include "rt_cgroup.h"
#include "rt_proc.h"
#include "tree.h"

#include <sys/wait.h>
#include <unistd.h>

static const char status_text[] =
    "Name:\tx\nVmPeak:\t  9000 kB\nVmSize:\t    8000 kB\nVmHWM:\t    700 kB\n"
    "VmRSS:\t     600 kB\nRssAnon:\t     400 kB\nRssFile:\t     200 kB\nThreads:\t17\n";

static void lines_are_found_by_their_whole_name(void) {
    char value[16];
    uint64_t bytes;
    CHECK(rt_proc_line("ab: 1\na : 2 \nb:\n", "a", value, sizeof value));
    CHECK_TEXT("2", value);
    CHECK(!rt_proc_line("ab: 1\n", "b", value, sizeof value));
    CHECK(!rt_proc_line("b:\nb2: 3\n", "b", value, sizeof value)); /* nothing stands after the name */
    CHECK(rt_proc_line("long: 0123456789abcdef", "long", value, sizeof value));
    CHECK_TEXT("0123456789abcde", value); /* cut to its place, and closed */
    CHECK(!rt_proc_kibibytes("VmRSS:\tmuch kB\n", "VmRSS", &bytes));
    CHECK(!rt_proc_number("99999999999999999999999", &bytes));
    CHECK(!rt_proc_number("-1", &bytes));
}

static void status_is_read_in_bytes(void) {
    tree machine = tree_make();
    rt_memory_usage usage;
    tree_put(&machine, "/proc/self/status", status_text);
    CHECK_UINT(RT_OK, rt_memory_read(machine.root, &usage));
    CHECK_UINT(600 * 1024, usage.rss_bytes);
    CHECK_UINT(700 * 1024, usage.peak_rss_bytes);
    CHECK_UINT(400 * 1024, usage.rss_anon_bytes);
    CHECK_UINT(200 * 1024, usage.rss_file_bytes);
    CHECK_UINT(8000 * 1024, usage.virtual_bytes);
    CHECK_UINT(17, usage.threads);
    tree_put(&machine, "/proc/self/status", "VmRSS:\t 600 kB\n");
    CHECK_UINT(RT_IO, rt_memory_read(machine.root, &usage));
    tree_remove(&machine);
    CHECK_UINT(RT_IO, rt_memory_read(machine.root, &usage));
}

static void the_peak_of_this_process_is_not_below_its_size(void) {
    rt_memory_usage usage;
    uint64_t pss = 0;
    CHECK_UINT(RT_OK, rt_memory_read("", &usage));
    CHECK(usage.peak_rss_bytes >= usage.rss_bytes);
    CHECK(usage.rss_bytes > 64 * 1024 && usage.virtual_bytes >= usage.rss_bytes);
    CHECK(usage.threads >= 1); /* a sanitizer may have one of its own */
    CHECK(rt_memory_pss("", &pss) && pss > 0);
}

/* A touched block stays in the peak after it is gone: what ru_maxrss would take from the parent is not in it. */
static void the_peak_remembers_what_was_freed(void) {
    const size_t bytes = 32u << 20;
    rt_memory_usage before, after;
    rt_memory_read("", &before);
    char *block = malloc(bytes);
    CHECK(block != NULL);
    memset(block, 1, bytes);
    volatile char kept = block[bytes - 1];
    CHECK(kept == 1);
    free(block);
    rt_memory_read("", &after);
    CHECK(after.peak_rss_bytes >= before.rss_bytes + bytes / 2);
}

static char *touched_block(size_t bytes) {
    char *const block = malloc(bytes);
    CHECK(block != NULL);
    for (size_t at = 0; at < bytes; at += 4096) {
        ((volatile char *)block)[at] = 1;
    }
    return block;
}

/* Bug 11: a peak in units of 1024 on one system and of bytes on another, multiplied all the same. Touching 400 MB
 * must raise it by 400 MB and not by a thousandth or a thousandfold; a sanitizer's shadow may double it. */
static void bug11_the_peak_is_in_bytes(void) {
    const size_t bytes = 400000000;
    rt_memory_usage before, after;
    CHECK_UINT(RT_OK, rt_memory_read("", &before));
    char *const block = touched_block(bytes);
    CHECK_UINT(RT_OK, rt_memory_read("", &after));
    free(block);
    const uint64_t grown_bytes = after.peak_rss_bytes - before.peak_rss_bytes;
    CHECK(after.rss_bytes - before.rss_bytes >= bytes - bytes / 50);
    CHECK(grown_bytes >= bytes - bytes / 5 && grown_bytes <= 3 * bytes); /* an earlier peak may hide a part */
}

/* Bug 12: ru_maxrss is inherited across fork and exec. A child of a large process must show its own peak. */
static void bug12_a_child_does_not_inherit_the_peak_of_its_parent(void) {
    const size_t bytes = 256u << 20;
    char *const block = touched_block(bytes);
    int ends[2];
    CHECK_UINT(0, pipe(ends));
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execl("/proc/self/exe", "test_rt_memory", "peak", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    char text[64] = "";
    const ssize_t length = read(ends[0], text, sizeof text - 1);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    close(ends[0]);
    free(block);
    uint64_t peak_bytes = 0;
    CHECK(length > 0 && rt_proc_number(text, &peak_bytes));
    CHECK(peak_bytes > 0 && peak_bytes < bytes / 2);
}

static int print_own_peak(void) {
    rt_memory_usage usage;
    const rt_status status = rt_memory_read("", &usage);
    printf("%" PRIu64 "\n", usage.peak_rss_bytes);
    return status == RT_OK && fflush(stdout) == 0 ? 0 : 1;
}

static void a_version_2_group_is_limited_by_its_parents(void) {
    tree machine = tree_make();
    rt_cgroup group;
    uint64_t bytes = 0;
    double cores = 0;
    tree_put(&machine, "/proc/self/cgroup", "0::/outer/inner\n");
    tree_put(&machine, "/proc/self/mountinfo",
             "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
             "31 22 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
    tree_put(&machine, "/sys/fs/cgroup/outer/memory.max", "3000000\n");
    tree_put(&machine, "/sys/fs/cgroup/outer/cpu.max", "150000 100000\n");
    tree_put(&machine, "/sys/fs/cgroup/outer/inner/memory.max", "max\n");
    tree_put(&machine, "/sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
    tree_put(&machine, "/sys/fs/cgroup/outer/inner/memory.current", "1000\n");
    rt_cgroup_find(machine.root, &group);
    CHECK(rt_cgroup_memory_limit(&group, &bytes));
    CHECK_UINT(3000000, bytes);
    CHECK(rt_cgroup_cpu_limit(&group, &cores) && cores == 1.5);
    CHECK(rt_cgroup_memory_current(&group, &bytes));
    CHECK_UINT(1000, bytes);
    CHECK(!rt_cgroup_memory_peak(&group, &bytes)); /* before Linux 5.19 */
    tree_put(&machine, "/sys/fs/cgroup/outer/inner/memory.peak", "2000\n");
    CHECK(rt_cgroup_memory_peak(&group, &bytes));
    CHECK_UINT(2000, bytes);
    tree_remove(&machine);
}

static void version_1_beside_2_is_found_by_its_controller(void) {
    tree machine = tree_make();
    rt_cgroup group;
    uint64_t bytes = 0;
    double cores = 0;
    tree_put(&machine, "/proc/self/cgroup", "4:memory:/box\n2:cpu,cpuacct:/\n0::/box\n");
    tree_put(&machine, "/proc/self/mountinfo",
             "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
             "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
             "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
    tree_put(&machine, "/sys/fs/cgroup/memory/box/memory.limit_in_bytes", "9223372036854771712\n");
    tree_put(&machine, "/sys/fs/cgroup/memory/box/memory.usage_in_bytes", "5\n");
    tree_put(&machine, "/sys/fs/cgroup/memory/box/memory.max_usage_in_bytes", "6\n");
    tree_put(&machine, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    tree_put(&machine, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    rt_cgroup_find(machine.root, &group);
    CHECK(!rt_cgroup_memory_limit(&group, &bytes)); /* the number that means "none" */
    CHECK(!rt_cgroup_cpu_limit(&group, &cores));
    CHECK(rt_cgroup_memory_current(&group, &bytes));
    CHECK_UINT(5, bytes);
    CHECK(rt_cgroup_memory_peak(&group, &bytes));
    CHECK_UINT(6, bytes);
    tree_put(&machine, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
    CHECK(rt_cgroup_cpu_limit(&group, &cores) && cores == 0.5);
    tree_remove(&machine);
}

/* Docker with version 1 mounts the container's own group: the path in /proc/self/cgroup is outside of it. */
static void a_container_sees_its_group_as_the_mount(void) {
    tree machine = tree_make();
    rt_cgroup group;
    uint64_t bytes = 0;
    tree_put(&machine, "/proc/self/cgroup", "4:memory:/docker/abc\n");
    tree_put(&machine, "/proc/self/mountinfo",
             "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
    tree_put(&machine, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "77\n");
    rt_cgroup_find(machine.root, &group);
    CHECK(rt_cgroup_memory_limit(&group, &bytes));
    CHECK_UINT(77, bytes);
    tree_put(&machine, "/proc/self/cgroup", "4:memory:/../other\n");
    rt_cgroup_find(machine.root, &group);
    bytes = 0;
    CHECK(rt_cgroup_memory_limit(&group, &bytes));
    CHECK_UINT(77, bytes);
    tree_remove(&machine);
    rt_cgroup_find(machine.root, &group);
    CHECK(!rt_cgroup_memory_limit(&group, &bytes));
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "peak") == 0) {
        return print_own_peak();
    }
    the_peak_of_this_process_is_not_below_its_size();
    the_peak_remembers_what_was_freed(); /* each with a larger block than the one before */
    bug11_the_peak_is_in_bytes();
    bug12_a_child_does_not_inherit_the_peak_of_its_parent();
    lines_are_found_by_their_whole_name();
    status_is_read_in_bytes();
    a_version_2_group_is_limited_by_its_parents();
    version_1_beside_2_is_found_by_its_controller();
    a_container_sees_its_group_as_the_mount();
    return check_done();
}
