#include "rt_manifest.h"

#include <unistd.h>

#include "rt_build.h"
#include "rt_digest.h"
#include "tree.h"

static void an_x86_virtual_machine_is_told(void) {
    tree root = tree_make();
    rt_machine machine;
    tree_put(&root, "/proc/cpuinfo",
             "processor\t: 0\ncpu family\t: 25\nmodel name\t: AMD EPYC 9\nflags\t\t: fpu hypervisor lm\n");
    tree_put(&root, "/proc/meminfo", "MemTotal:       1000 kB\nMemFree: 1 kB\n");
    tree_put(&root, "/etc/os-release", "NAME=\"X\"\nPRETTY_NAME=\"Xinu 12 (book)\"\n");
    tree_put(&root, "/sys/class/dmi/id/sys_vendor", "Google\n");
    tree_put(&root, "/sys/class/dmi/id/product_name", "Google Compute Engine\n");
    rt_machine_read(root.root, &machine);
    CHECK_TEXT("AMD EPYC 9", machine.cpu_model.value);
    CHECK_UINT(1024000, machine.memory_bytes.value);
    CHECK(strncmp(machine.os_build.value, "Xinu 12 (book), Linux ", 22) == 0);
    CHECK_TEXT("unknown hypervisor (Google Google Compute Engine)", machine.virtualisation.value);
    CHECK(machine.cores.missing == NULL && machine.cores.value >= 1);
    tree_put(&root, "/proc/cpuinfo", "model name\t: AMD EPYC 9\nflags\t\t: fpu lm\n");
    rt_machine_read(root.root, &machine);
    CHECK_TEXT("none", machine.virtualisation.value);
    tree_remove(&root);
}

static void an_arm_core_is_named_by_its_numbers(void) {
    tree root = tree_make();
    rt_machine machine;
    tree_put(&root, "/proc/cpuinfo",
             "processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: 0x41\nCPU architecture: 8\n"
             "CPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n");
    rt_machine_read(root.root, &machine);
    CHECK_TEXT("ARM implementer 0x41 part 0xd0c variant 0x3 revision 1", machine.cpu_model.value);
    CHECK(machine.virtualisation.missing !=
          NULL); /* such a core has no hypervisor flag: nothing is guessed */
    tree_put(&root, "/proc/device-tree/hypervisor/compatible", "linux,kvm");
    rt_machine_read(root.root, &machine);
    CHECK(machine.virtualisation.missing == NULL);
    CHECK_TEXT("linux,kvm", machine.virtualisation.value);
    tree_remove(&root);
}

static void a_laptop_tells_power_and_temperature(void) {
    tree root = tree_make();
    rt_environment environment;
    tree_put(&root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    tree_put(&root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2800123\n");
    tree_put(&root, "/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    tree_put(&root, "/sys/class/power_supply/AC/type", "Mains\n");
    tree_put(&root, "/sys/class/power_supply/AC/online", "0\n");
    tree_put(&root, "/sys/class/power_supply/BAT0/type", "Battery\n");
    tree_put(&root, "/sys/class/power_supply/BAT0/status", "Discharging\n");
    tree_put(&root, "/sys/class/thermal/thermal_zone0/type", "acpitz\n");
    tree_put(&root, "/sys/class/thermal/thermal_zone0/temp", "20000\n");
    tree_put(&root, "/sys/class/thermal/thermal_zone1/type", "x86_pkg_temp\n");
    tree_put(&root, "/sys/class/thermal/thermal_zone1/temp", "51500\n");
    tree_put(&root, "/sys/devices/system/edac/mc/mc0/dimm0/dimm_location", "channel 0 slot 0\n");
    tree_put(&root, "/sys/devices/system/edac/mc/mc0/dimm1/dimm_location", "channel 1 slot 0\n");
    tree_put(&root, "/sys/devices/system/edac/mc/mc0/dimm2/dimm_location", "channel 1 slot 1\n");
    tree_put(&root, "/proc/loadavg", "1.25 0.50 0.10 2/345 678\n");
    rt_environment_read(root.root, &environment);
    CHECK_TEXT("powersave", environment.governor.value);
    CHECK_UINT(2800123, environment.frequency_khz.value);
    CHECK_TEXT("tsc", environment.clock_source.value);
    CHECK_TEXT("battery", environment.power_source.value);
    CHECK(environment.temperature_c.missing == NULL && environment.temperature_c.value == 51.5);
    CHECK_UINT(2, environment.memory_channels.value);
    CHECK(environment.load_average.value == 1.25);
    tree_put(&root, "/sys/class/power_supply/AC/online", "1\n");
    rt_environment_read(root.root, &environment);
    CHECK_TEXT("mains", environment.power_source.value);
    tree_remove(&root);
}

static void a_mouse_does_not_power_the_machine(void) {
    tree root = tree_make();
    rt_environment environment;
    tree_put(&root, "/sys/class/power_supply/hidpp0/type", "Battery\n");
    tree_put(&root, "/sys/class/power_supply/hidpp0/scope", "Device\n");
    tree_put(&root, "/sys/class/power_supply/hidpp0/status", "Discharging\n");
    rt_environment_read(root.root, &environment);
    CHECK(environment.power_source.missing != NULL);
    tree_remove(&root);
}

static void containers_are_known_by_their_markers(void) {
    tree root = tree_make();
    rt_environment environment;
    tree_put(&root, "/proc/self/cgroup", "0::/kubepods/besteffort/pod1\n");
    rt_environment_read(root.root, &environment);
    CHECK_TEXT("kubepods", environment.container.value);
    tree_put(&root, "/.dockerenv", "");
    rt_environment_read(root.root, &environment);
    CHECK_TEXT("docker", environment.container.value);
    tree_remove(&root);
}

static size_t occurrences(const char *text, const char *word) {
    size_t count = 0;
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        count++;
    }
    return count;
}

/* On a machine that tells nothing, each null has its reason, once, under its own key. */
static void what_is_null_has_a_reason(void) {
    static const char *const keys[] = {"cpu_model",
                                       "memory_bytes",
                                       "virtualisation",
                                       "memory_channels",
                                       "container",
                                       "cgroup_cpu_limit",
                                       "cgroup_memory_limit_bytes",
                                       "governor",
                                       "frequency_khz",
                                       "power_source",
                                       "temperature_c",
                                       "clock_source"};
    tree root = tree_make();
    rt_machine machine;
    rt_environment environment;
    rt_json *json;
    const char *text;
    rt_machine_read(root.root, &machine);
    rt_environment_read(root.root, &environment);
    rt_json_create(&json);
    rt_manifest_write(json, NULL, &machine, &environment);
    CHECK_UINT(RT_OK, rt_json_finish(json, &text));
    const char *reasons = text == NULL ? NULL : strstr(text, "\"unavailable\":{");
    CHECK(reasons != NULL);
    for (size_t i = 0; reasons != NULL && i < sizeof keys / sizeof *keys; i++) {
        char null[64], reason[64];
        snprintf(null, sizeof null, "\"%s\":null", keys[i]);
        snprintf(reason, sizeof reason, "\"%s\":\"", keys[i]);
        CHECK_UINT(1, occurrences(text, null));
        CHECK_UINT(1, occurrences(reasons, reason));
    }
    if (reasons != NULL) { /* of the timestamps and intervals null says "none", which is known */
        const size_t none = occurrences(text, "\"lock\":null") + occurrences(text, "\"histogram\":null");
        CHECK_UINT(occurrences(reasons, "\":\""), occurrences(text, ":null") - none);
    }
    rt_json_destroy(json);
    tree_remove(&root);
}

static void the_manifest_of_this_machine_is_anonymous(void) {
    rt_machine machine;
    rt_environment environment;
    rt_json *json;
    const char *text;
    char host[256] = "", quoted[300], folder[4096];
    rt_machine_read("", &machine);
    rt_environment_read("", &environment);
    rt_json_create(&json);
    rt_manifest_write(json, NULL, &machine, &environment);
    CHECK_UINT(RT_OK, rt_json_finish(json, &text));
    gethostname(host, sizeof host - 1);
    snprintf(quoted, sizeof quoted, " %s ", host);
    CHECK(text != NULL && strstr(text, quoted) == NULL);
    CHECK(text != NULL && getcwd(folder, sizeof folder) != NULL && strstr(text, folder) == NULL);
    CHECK(text != NULL && strstr(text, "/home/") == NULL && strstr(text, "/root") == NULL);
    rt_json_destroy(json);
}

/* The digest is of the very file that runs, and the build id is the one that the linker wrote into it. */
static void the_running_code_is_identified(void) {
    rt_fact_text library, id;
    char expected[RT_DIGEST_HEX_BYTES];
    rt_build_library(&library);
    rt_build_id(&id);
    CHECK_UINT(RT_OK, rt_digest_file_hex("/proc/self/exe", expected));
    CHECK(library.missing == NULL);
    CHECK_TEXT(expected, library.value);
    CHECK(id.missing == NULL);
    CHECK_UINT(40, strlen(id.value)); /* --build-id=sha1 */
}

int main(void) {
    an_x86_virtual_machine_is_told();
    an_arm_core_is_named_by_its_numbers();
    a_laptop_tells_power_and_temperature();
    a_mouse_does_not_power_the_machine();
    containers_are_known_by_their_markers();
    what_is_null_has_a_reason();
    the_manifest_of_this_machine_is_anonymous();
    the_running_code_is_identified();
    return check_done();
}
