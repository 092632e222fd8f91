/* Streaming writer of one line of JSON. It never gives out invalid JSON: the first mistake or failure (a value
 * without its key, an unclosed array, NaN, no memory) is kept, every later call does nothing, and
 * rt_json_finish() returns that status instead of a text.
 *
 * `key` is the member's name inside an object, and NULL inside an array and for the outermost value. */
#ifndef RT_JSON_H
#define RT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rt_status.h"

#define RT_JSON_DEPTH_MAX 32
#define RT_JSON_INTEGER_MAX                                                                                  \
    ((UINT64_C(1) << 53) - 1) /* the greatest integer that every JSON reader keeps exact */

typedef struct rt_json rt_json;

/* RT_NO_MEMORY: *out is NULL. */
rt_status rt_json_create(rt_json **out);
void rt_json_destroy(rt_json *self);

void rt_json_object_begin(rt_json *self, const char *key);
void rt_json_object_end(rt_json *self);
void rt_json_array_begin(rt_json *self, const char *key);
void rt_json_array_end(rt_json *self);

void rt_json_null(rt_json *self, const char *key);
void rt_json_bool(rt_json *self, const char *key, bool value);

/* Refused above RT_JSON_INTEGER_MAX (RT_INVALID): a reader would round it in silence. */
void rt_json_uint(rt_json *self, const char *key, uint64_t value);

/* The same with a sign; refused beyond RT_JSON_INTEGER_MAX on either side. */
void rt_json_int(rt_json *self, const char *key, int64_t value);

/* The shortest of 15, 16 or 17 significant digits that reads back as the same double; always with a point or an
 * exponent, so that it stays a float for its reader. NaN and infinities are refused (RT_INVALID). */
void rt_json_double(rt_json *self, const char *key, double value);

/* Bytes that are no UTF-8 are written as U+FFFD, one for each byte. NULL is refused (RT_INVALID). */
void rt_json_string(rt_json *self, const char *key, const char *value);

/* A string of 16 lower-case hexadecimal digits: how a full 64-bit value travels. */
void rt_json_hex64(rt_json *self, const char *key, uint64_t value);

/* The status so far. */
rt_status rt_json_status(const rt_json *self);

/* The finished text, NUL-terminated, without a newline; it lives as long as `self`.
 * RT_INVALID: calls were out of order, the value is not complete, or a number was refused. RT_NO_MEMORY: the text
 * did not fit in memory. On both *text is NULL. */
rt_status rt_json_finish(rt_json *self, const char **text);

#endif
