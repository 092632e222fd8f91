#include "rt_machine.h"

#include <ctype.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "rt_proc.h"

#define CPUINFO_BYTES 16384 /* the first processors say enough; a file of 256 cores is a megabyte */

/* aarch64 prints no model name: the four numbers that identify the core are given as they are read. */
static bool read_arm_identity(const char *cpuinfo, rt_fact_text *out) {
    char implementer[32], part[32], variant[32], revision[32];
    if (!rt_proc_line(cpuinfo, "CPU implementer", implementer, sizeof implementer) ||
        !rt_proc_line(cpuinfo, "CPU part", part, sizeof part) ||
        !rt_proc_line(cpuinfo, "CPU variant", variant, sizeof variant) ||
        !rt_proc_line(cpuinfo, "CPU revision", revision, sizeof revision)) {
        return false;
    }
    snprintf(out->value, sizeof out->value, "ARM implementer %s part %s variant %s revision %s", implementer,
             part, variant, revision);
    return true;
}

static void read_cpu_model(const char *cpuinfo, rt_fact_text *out) {
    static const char *const names[] = {"model name", "cpu model", "uarch", "cpu"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (rt_proc_line(cpuinfo, names[i], out->value, sizeof out->value)) {
            return;
        }
    }
    if (!read_arm_identity(cpuinfo, out)) {
        out->missing = "the cpuinfo of the kernel names no model";
    }
}

/* The mask grows until the kernel accepts it: machines of more than 1024 CPUs refuse the default size. */
static void read_cores(rt_fact_uint *out) {
    for (int cpus = 1024; cpus <= 1024 * 64; cpus *= 4) {
        cpu_set_t *set = CPU_ALLOC((size_t)cpus);
        size_t bytes = CPU_ALLOC_SIZE((size_t)cpus);
        if (set == NULL) {
            break;
        }
        CPU_ZERO_S(bytes, set);
        int failed = sched_getaffinity(0, bytes, set);
        int count = failed ? 0 : CPU_COUNT_S(bytes, set);
        CPU_FREE(set);
        if (count > 0) {
            out->value = (uint64_t)count;
            return;
        }
    }
    out->missing = "sched_getaffinity failed";
}

static void read_memory(const char *root, rt_fact_uint *out) {
    char text[4096];
    if (!rt_proc_read(root, "/proc/meminfo", text, sizeof text) ||
        !rt_proc_kibibytes(text, "MemTotal", &out->value)) {
        out->missing = "the meminfo of the kernel has no MemTotal";
    }
}

static void strip_quotes(char *text) {
    size_t length = strlen(text);
    if (length < 2 || (text[0] != '"' && text[0] != '\'') || text[length - 1] != text[0]) {
        return;
    }
    memmove(text, text + 1, length - 2);
    text[length - 2] = '\0';
}

static void read_os_build(const char *root, const struct utsname *names, rt_fact_text *out) {
    char text[4096], pretty[96];
    if ((rt_proc_read(root, "/etc/os-release", text, sizeof text) ||
         rt_proc_read(root, "/usr/lib/os-release", text, sizeof text)) &&
        rt_proc_line(text, "PRETTY_NAME", pretty, sizeof pretty)) {
        strip_quotes(pretty);
        snprintf(out->value, sizeof out->value, "%s, %.16s %.64s", pretty, names->sysname, names->release);
    } else {
        snprintf(out->value, sizeof out->value, "%.16s %.64s", names->sysname, names->release);
    }
}

static void read_platform(const struct utsname *names, rt_fact_text *out) {
    snprintf(out->value, sizeof out->value, "%.32s-%.32s", names->sysname, names->machine);
    for (char *c = out->value; *c != '\0'; c++) {
        *c = (char)tolower((unsigned char)*c);
    }
}

#if defined(__x86_64__) || defined(__i386__)
/* The processor itself answers: bit 31 of ecx in leaf 1, and the hypervisor's signature in leaf 0x40000000. */
static bool ask_processor(bool *virtual, char *name, size_t capacity) {
    static const struct {
        const char *signature, *name;
    } known[] = {{"KVMKVMKVM", "kvm"},           {"TCGTCGTCGTCG", "qemu-tcg"}, {"Microsoft Hv", "hyper-v"},
                 {"VMwareVMware", "vmware"},     {"XenVMMXenVMM", "xen"},      {"bhyve bhyve ", "bhyve"},
                 {"VBoxVBoxVBox", "virtualbox"}, {"ACRNACRNACRN", "acrn"}};
    unsigned a, b, c, d;
    char signature[13] = "";
    if (!__get_cpuid(1, &a, &b, &c, &d)) {
        return false;
    }
    *virtual = (c >> 31) != 0;
    if (!*virtual) {
        return true;
    }
    __cpuid(0x40000000, a, b, c, d);
    memcpy(signature, &b, 4);
    memcpy(signature + 4, &c, 4);
    memcpy(signature + 8, &d, 4);
    snprintf(name, capacity, "unknown hypervisor");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(signature, known[i].signature) == 0) {
            snprintf(name, capacity, "%s", known[i].name);
        }
    }
    return true;
}
#else
static bool ask_processor(bool *virtual, char *name, size_t capacity) {
    (void)virtual, (void)name, (void)capacity;
    return false;
}
#endif

/* The same bit as Linux saw it. false: this architecture has no such flag. */
static bool ask_cpuinfo(const char *cpuinfo, bool *virtual, char *name, size_t capacity) {
    char flags[4096];
    if (!rt_proc_line(cpuinfo, "flags", flags, sizeof flags)) {
        return false;
    }
    *virtual = strstr(flags, " hypervisor") != NULL;
    snprintf(name, capacity, "unknown hypervisor");
    return true;
}

/* What the firmware tells where the processor has no flag (aarch64). */
static bool ask_firmware(const char *root, bool *virtual, char *name, size_t capacity) {
    static const char *const products[] = {
        "QEMU", "KVM",   "VMware",    "VirtualBox", "Google Compute Engine",
        "Xen",  "BHYVE", "Parallels", "OpenStack",  "Apple Virtualization"};
    char text[128];
    if (rt_proc_read(root, "/proc/device-tree/hypervisor/compatible", name, capacity)) {
        *virtual = true;
        return true;
    }
    if (!rt_proc_read(root, "/sys/class/dmi/id/product_name", text, sizeof text)) {
        return false;
    }
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        if (strstr(text, products[i]) != NULL) {
            *virtual = true;
            snprintf(name, capacity, "%s", products[i]);
            return true;
        }
    }
    return false;
}

static void read_virtualisation(const char *root, const char *cpuinfo, rt_fact_text *out) {
    char name[64] = "", type[32], vendor[64], product[64];
    bool virtual = false;
    bool known = (root[0] == '\0' && ask_processor(&virtual, name, sizeof name)) ||
                 ask_cpuinfo(cpuinfo, &virtual, name, sizeof name) ||
                 ask_firmware(root, &virtual, name, sizeof name);
    if (!known) {
        out->missing =
            "this processor has no hypervisor flag, and the firmware names no known virtual machine";
        return;
    }
    if (!virtual) {
        snprintf(out->value, sizeof out->value, "none");
        return;
    }
    if (rt_proc_read(root, "/sys/hypervisor/type", type, sizeof type)) {
        snprintf(name, sizeof name, "%s", type);
    }
    if (rt_proc_read(root, "/sys/class/dmi/id/sys_vendor", vendor, sizeof vendor) &&
        rt_proc_read(root, "/sys/class/dmi/id/product_name", product, sizeof product)) {
        snprintf(out->value, sizeof out->value, "%s (%s %s)", name, vendor, product);
    } else {
        snprintf(out->value, sizeof out->value, "%s", name);
    }
}

void rt_machine_read(const char *root, rt_machine *out) {
    char cpuinfo[CPUINFO_BYTES];
    struct utsname names;
    memset(out, 0, sizeof *out);
    rt_proc_read(root, "/proc/cpuinfo", cpuinfo, sizeof cpuinfo);
    read_cpu_model(cpuinfo, &out->cpu_model);
    read_cores(&out->cores);
    read_memory(root, &out->memory_bytes);
    read_virtualisation(root, cpuinfo, &out->virtualisation);
    if (uname(&names) != 0) {
        out->os_build.missing = out->platform.missing = "uname failed";
        return;
    }
    read_os_build(root, &names, &out->os_build);
    read_platform(&names, &out->platform);
}
