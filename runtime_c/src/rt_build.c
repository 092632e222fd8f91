#include "rt_build.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#include "rt_build_values.h"
#include "rt_digest.h"

/* The generated header leaves out what is unknown; a name for it keeps `#define X NULL` from being compared. */
static const char *const revision_or_null = RT_BUILD_REVISION;
static const char *const released_digest_or_null = RT_BUILD_RELEASED_DIGEST;

void rt_build_write(rt_json *json, const char *key) {
    rt_json_object_begin(json, key);
    rt_json_string(json, "source_digest", RT_BUILD_SOURCE_DIGEST);
    rt_json_string(json, "compiler", RT_BUILD_COMPILER);
    rt_json_string(json, "compiler_version", RT_BUILD_COMPILER_VERSION);
    rt_json_string(json, "flags", RT_BUILD_FLAGS);
    rt_json_string(json, "sanitizer", RT_BUILD_SANITIZER);
    rt_json_bool(json, "lto", RT_BUILD_LTO != 0);
    rt_json_object_end(json);
}

/* dladdr gives the name that a program was called by, which need not lead to its file; the kernel knows better. Code
 * that the loader does not know is in a program linked without it. */
static const char *code_path(void) {
    Dl_info here, program;
    const void *program_headers = (const void *)(uintptr_t)getauxval(AT_PHDR);
    if (dladdr((const void *)&revision_or_null, &here) == 0 || here.dli_fname == NULL) {
        return "/proc/self/exe";
    }
    if (dladdr(program_headers, &program) != 0 && program.dli_fbase == here.dli_fbase) {
        return "/proc/self/exe";
    }
    return here.dli_fname;
}

void rt_build_library(rt_fact_text *sha256) {
    sha256->missing = NULL;
    if (rt_digest_file_hex(code_path(), sha256->value) != RT_OK) {
        sha256->missing = "the file that holds the running code cannot be read";
    }
}

/* One note: sizes, then the owner's name and the content, each padded to four bytes. */
static size_t find_gnu_note(const char *notes, size_t bytes, const uint8_t **content) {
    const size_t header_bytes = sizeof(ElfW(Nhdr));
    for (size_t at = 0; at + header_bytes <= bytes;) {
        ElfW(Nhdr) note;
        memcpy(&note, notes + at, header_bytes);
        const char *name = notes + at + header_bytes;
        size_t name_bytes = (note.n_namesz + 3u) & ~(size_t)3;
        size_t content_bytes = (note.n_descsz + 3u) & ~(size_t)3;
        if (at + header_bytes + name_bytes + content_bytes > bytes) {
            return 0;
        }
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
            *content = (const uint8_t *)name + name_bytes;
            return note.n_descsz;
        }
        at += header_bytes + name_bytes + content_bytes;
    }
    return 0;
}

static bool object_holds(const struct dl_phdr_info *object, uintptr_t address) {
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && address >= start && address - start < segment->p_memsz) {
            return true;
        }
    }
    return false;
}

static int visit_object(struct dl_phdr_info *object, size_t size, void *state) {
    rt_fact_text *id = state;
    (void)size;
    if (!object_holds(object, (uintptr_t)&revision_or_null)) {
        return 0;
    }
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        const uint8_t *content = NULL;
        if (segment->p_type != PT_NOTE) {
            continue;
        }
        const char *notes = (const char *)(object->dlpi_addr + segment->p_vaddr);
        size_t bytes = find_gnu_note(notes, segment->p_memsz, &content);
        for (size_t k = 0; k < bytes && 2 * k + 2 < sizeof id->value; k++) {
            snprintf(id->value + 2 * k, 3, "%02x", content[k]);
            id->missing = NULL;
        }
    }
    return 1;
}

void rt_build_id(rt_fact_text *id) {
    id->value[0] = '\0';
    id->missing = "the linker left no build id in the library";
    dl_iterate_phdr(visit_object, id);
}

void rt_build_revision(rt_fact_text *revision) {
    revision->missing = revision_or_null == NULL ? "it was not built in a git repository of its own" : NULL;
    snprintf(revision->value, sizeof revision->value, "%s", revision_or_null == NULL ? "" : revision_or_null);
}

void rt_build_dirty(rt_fact_uint *dirty) {
    dirty->missing = RT_BUILD_DIRTY < 0 ? "it was not built in a git repository of its own" : NULL;
    dirty->value = RT_BUILD_DIRTY > 0;
}

void rt_build_equals_release(rt_fact_uint *equal) {
    const char *released = released_digest_or_null;
    equal->missing = released == NULL ? "the build was given no released digest to compare with" : NULL;
    equal->value = released != NULL && strcmp(released, RT_BUILD_SOURCE_DIGEST) == 0;
}
