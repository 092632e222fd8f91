#include "rt_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rt_json {
    char *text;
    size_t length;
    size_t capacity;
    rt_status status;
    unsigned depth; /* open containers */
    bool is_object[RT_JSON_DEPTH_MAX];
    bool has_members[RT_JSON_DEPTH_MAX];
    bool root_written;
};

static void fail(rt_json *self, rt_status status) {
    if (self->status == RT_OK) {
        self->status = status;
    }
}

/* Room for `count` more bytes and the closing NUL. */
static bool reserve(rt_json *self, size_t count) {
    size_t needed = self->length + count + 1;
    if (needed <= self->capacity) {
        return true;
    }
    size_t capacity = self->capacity * 2 > needed ? self->capacity * 2 : needed;
    char *grown = realloc(self->text, capacity);
    if (grown == NULL) {
        fail(self, RT_NO_MEMORY);
        return false;
    }
    self->text = grown;
    self->capacity = capacity;
    return true;
}

static void append(rt_json *self, const char *bytes, size_t count) {
    if (self->status != RT_OK || !reserve(self, count)) {
        return;
    }
    memcpy(self->text + self->length, bytes, count);
    self->length += count;
    self->text[self->length] = '\0';
}

static void append_text(rt_json *self, const char *text) { append(self, text, strlen(text)); }

/* Length of the well-formed UTF-8 sequence at `s` (Unicode table 3-7), or 0. The closing NUL is never a valid
 * continuation byte, so the look-ahead stays inside the string. */
static size_t utf8_length(const unsigned char *s) {
    unsigned char low = 0x80, high = 0xBF;
    size_t length = s[0] < 0x80   ? 1
                    : s[0] < 0xC2 ? 0
                    : s[0] < 0xE0 ? 2
                    : s[0] < 0xF0 ? 3
                    : s[0] < 0xF5 ? 4
                                  : 0;
    if (s[0] == 0xE0) {
        low = 0xA0;
    } else if (s[0] == 0xED) {
        high = 0x9F;
    } else if (s[0] == 0xF0) {
        low = 0x90;
    } else if (s[0] == 0xF4) {
        high = 0x8F;
    }
    for (size_t i = 1; i < length; i++) {
        if (s[i] < low || s[i] > high) {
            return 0;
        }
        low = 0x80;
        high = 0xBF;
    }
    return length;
}

static void append_escaped(rt_json *self, unsigned char byte) {
    static const char short_names[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    char escaped[8];
    for (size_t i = 0; i + 1 < sizeof short_names; i += 2) {
        if ((unsigned char)short_names[i] == byte) {
            escaped[0] = '\\';
            escaped[1] = short_names[i + 1];
            append(self, escaped, 2);
            return;
        }
    }
    snprintf(escaped, sizeof escaped, "\\u%04x", byte);
    append_text(self, escaped);
}

static void append_quoted(rt_json *self, const char *text) {
    append_text(self, "\"");
    for (const unsigned char *s = (const unsigned char *)text; *s != '\0';) {
        size_t length = utf8_length(s);
        if (length == 0) {
            append_text(self, "\xEF\xBF\xBD");
        } else if (*s < 0x20 || *s == '"' || *s == '\\' || *s == 0x7F) {
            append_escaped(self, *s);
        } else {
            append(self, (const char *)s, length);
        }
        s += length == 0 ? 1 : length;
    }
    append_text(self, "\"");
}

/* Everything that stands before a value: the comma, the key, and the check that a value may stand here. */
static void before_value(rt_json *self, const char *key) {
    bool in_object = self->depth > 0 && self->is_object[self->depth - 1];
    if (in_object != (key != NULL) || (self->depth == 0 && self->root_written)) {
        fail(self, RT_INVALID);
    }
    if (self->status != RT_OK) {
        return;
    }
    if (self->depth == 0) {
        self->root_written = true;
        return;
    }
    if (self->has_members[self->depth - 1]) {
        append_text(self, ",");
    }
    self->has_members[self->depth - 1] = true;
    if (in_object) {
        append_quoted(self, key);
        append_text(self, ":");
    }
}

static void container_begin(rt_json *self, const char *key, bool is_object) {
    before_value(self, key);
    if (self->depth == RT_JSON_DEPTH_MAX) {
        fail(self, RT_INVALID);
    }
    if (self->status != RT_OK) {
        return;
    }
    self->is_object[self->depth] = is_object;
    self->has_members[self->depth] = false;
    self->depth++;
    append_text(self, is_object ? "{" : "[");
}

static void container_end(rt_json *self, bool is_object) {
    if (self->depth == 0 || self->is_object[self->depth - 1] != is_object) {
        fail(self, RT_INVALID);
    }
    if (self->status != RT_OK) {
        return;
    }
    self->depth--;
    append_text(self, is_object ? "}" : "]");
}

static void value_text(rt_json *self, const char *key, const char *text) {
    before_value(self, key);
    append_text(self, text);
}

rt_status rt_json_create(rt_json **out) {
    rt_json *self = calloc(1, sizeof *self);
    *out = NULL;
    if (self == NULL) {
        return RT_NO_MEMORY;
    }
    self->status = RT_OK;
    *out = self;
    return RT_OK;
}

void rt_json_destroy(rt_json *self) {
    if (self == NULL) {
        return;
    }
    free(self->text);
    free(self);
}

void rt_json_object_begin(rt_json *self, const char *key) { container_begin(self, key, true); }

void rt_json_object_end(rt_json *self) { container_end(self, true); }

void rt_json_array_begin(rt_json *self, const char *key) { container_begin(self, key, false); }

void rt_json_array_end(rt_json *self) { container_end(self, false); }

void rt_json_null(rt_json *self, const char *key) { value_text(self, key, "null"); }

void rt_json_bool(rt_json *self, const char *key, bool value) {
    value_text(self, key, value ? "true" : "false");
}

void rt_json_uint(rt_json *self, const char *key, uint64_t value) {
    char digits[24];
    if (value > RT_JSON_INTEGER_MAX) {
        fail(self, RT_INVALID);
    }
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    value_text(self, key, digits);
}

void rt_json_int(rt_json *self, const char *key, int64_t value) {
    char digits[24];
    if (value > (int64_t)RT_JSON_INTEGER_MAX || value < -(int64_t)RT_JSON_INTEGER_MAX) {
        fail(self, RT_INVALID);
    }
    snprintf(digits, sizeof digits, "%" PRId64, value);
    value_text(self, key, digits);
}

/* printf follows the locale of the process; JSON knows only the point. */
static void restore_decimal_point(char *digits) {
    size_t kept = 0;
    bool in_point = false;
    for (const char *s = digits; *s != '\0'; s++) {
        bool is_number = (*s >= '0' && *s <= '9') || *s == '-' || *s == '+' || *s == 'e' || *s == '.';
        if (is_number || !in_point) {
            digits[kept++] = is_number ? *s : '.';
        }
        in_point = !is_number;
    }
    digits[kept] = '\0';
}

void rt_json_double(rt_json *self, const char *key, double value) {
    char digits[40];
    if (!isfinite(value)) {
        fail(self, RT_INVALID);
        return;
    }
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value) {
            break;
        }
    }
    restore_decimal_point(digits);
    if (strpbrk(digits, ".e") == NULL) {
        strcat(digits, ".0");
    }
    value_text(self, key, digits);
}

void rt_json_string(rt_json *self, const char *key, const char *value) {
    if (value == NULL) {
        fail(self, RT_INVALID);
        return;
    }
    before_value(self, key);
    append_quoted(self, value);
}

void rt_json_hex64(rt_json *self, const char *key, uint64_t value) {
    char quoted[24];
    snprintf(quoted, sizeof quoted, "\"%016" PRIx64 "\"", value);
    value_text(self, key, quoted);
}

rt_status rt_json_status(const rt_json *self) { return self->status; }

rt_status rt_json_finish(rt_json *self, const char **text) {
    if (self->depth != 0 || !self->root_written) {
        fail(self, RT_INVALID);
    }
    *text = self->status == RT_OK ? self->text : NULL;
    return self->status;
}
