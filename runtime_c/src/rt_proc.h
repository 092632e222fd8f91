/* Reads the small text files of the kernel (/proc, /sys) into a caller's buffer, without allocation, so that
 * reading memory does not change the memory that is read.
 *
 * Every path is `root` followed by `path`; `root` is "" on a real machine, and a made-up tree in the tests. */
#ifndef RT_PROC_H
#define RT_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RT_PROC_PATH_BYTES 512

/* Joins root and path. false: the result would not fit in RT_PROC_PATH_BYTES. */
bool rt_proc_path(char out[RT_PROC_PATH_BYTES], const char *root, const char *path);

bool rt_proc_exists(const char *root, const char *path);

/* The file's text, NUL-terminated, without white space at its end. A longer file is cut at `capacity` - 1 bytes.
 * false: the file cannot be opened or read, or it is empty; `buffer` holds an empty string. */
bool rt_proc_read(const char *root, const char *path, char *buffer, size_t capacity);

/* Finds the first line that starts with `name`, skips white space and the separator (':' or '='), and copies the
 * rest of the line, without white space at both ends. false: no such line, or nothing stands after the name. */
bool rt_proc_line(const char *text, const char *name, char *value, size_t capacity);

/* A decimal number at the start of `text`. false: there is none, or it passes 2^64 - 1. */
bool rt_proc_number(const char *text, uint64_t *value);

/* The value of a line "name: N kB" in bytes. false: no such line, or no such number. */
bool rt_proc_kibibytes(const char *text, const char *name, uint64_t *bytes);

#endif
