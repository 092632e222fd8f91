#include "rt_proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool rt_proc_path(char out[RT_PROC_PATH_BYTES], const char *root, const char *path) {
    int length = snprintf(out, RT_PROC_PATH_BYTES, "%s%s", root, path);
    return length >= 0 && length < RT_PROC_PATH_BYTES;
}

bool rt_proc_exists(const char *root, const char *path) {
    char full[RT_PROC_PATH_BYTES];
    return rt_proc_path(full, root, path) && access(full, F_OK) == 0;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static void trim_end(char *text, size_t length) {
    while (length > 0 && is_space(text[length - 1])) {
        length--;
    }
    text[length] = '\0';
}

/* The kernel hands out such files in pieces of a page: reading goes on until it says that it is done. */
static size_t read_whole(int file, char *buffer, size_t capacity) {
    size_t length = 0;
    while (length < capacity) {
        ssize_t got = read(file, buffer + length, capacity - length);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        length += (size_t)got;
    }
    return length;
}

bool rt_proc_read(const char *root, const char *path, char *buffer, size_t capacity) {
    char full[RT_PROC_PATH_BYTES];
    buffer[0] = '\0';
    if (!rt_proc_path(full, root, path)) {
        return false;
    }
    int file = open(full, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    size_t length = read_whole(file, buffer, capacity - 1);
    close(file);
    trim_end(buffer, length);
    return buffer[0] != '\0';
}

bool rt_proc_line(const char *text, const char *name, char *value, size_t capacity) {
    size_t name_length = strlen(name);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, name_length) != 0) {
            continue;
        }
        const char *start = line + name_length;
        start += strspn(start, " \t");
        if (*start != ':' && *start != '=') {
            continue; /* a longer name that only begins alike */
        }
        start++;
        start += strspn(start, " \t");
        size_t length = strcspn(start, "\n");
        if (length >= capacity) {
            length = capacity - 1;
        }
        memcpy(value, start, length);
        trim_end(value, length);
        return value[0] != '\0';
    }
    return false;
}

bool rt_proc_number(const char *text, uint64_t *value) {
    char *end;
    if (*text < '0' || *text > '9') {
        return false;
    }
    errno = 0;
    unsigned long long parsed = strtoull(text, &end, 10);
    if (errno != 0) {
        return false;
    }
    *value = parsed;
    return true;
}

bool rt_proc_kibibytes(const char *text, const char *name, uint64_t *bytes) {
    char value[64];
    uint64_t kibibytes;
    if (!rt_proc_line(text, name, value, sizeof value) || !rt_proc_number(value, &kibibytes)) {
        return false;
    }
    *bytes = kibibytes * 1024;
    return true;
}
