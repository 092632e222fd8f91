#include "rt_json.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "check.h"

/* A document of one array, closed: its text, or NULL with the status. */
static char *array_of(void (*write)(rt_json *, const void *), const void *value, rt_status *status) {
    rt_json *json;
    const char *text;
    *status = rt_json_create(&json);
    rt_json_array_begin(json, NULL);
    write(json, value);
    rt_json_array_end(json);
    *status = rt_json_finish(json, &text);
    char *copy = text == NULL ? NULL : strdup(text);
    rt_json_destroy(json);
    return copy;
}

static void write_double(rt_json *json, const void *value) {
    rt_json_double(json, NULL, *(const double *)value);
}

static void write_uint(rt_json *json, const void *value) {
    rt_json_uint(json, NULL, *(const uint64_t *)value);
}

static void write_int(rt_json *json, const void *value) { rt_json_int(json, NULL, *(const int64_t *)value); }

static void check_int(int64_t value, const char *expected) {
    rt_status status;
    char *text = array_of(write_int, &value, &status);
    CHECK(expected == NULL ? text == NULL && status == RT_INVALID : strcmp(text, expected) == 0);
    free(text);
}

static void integers_with_a_sign_keep_what_every_reader_keeps(void) {
    check_int(-1, "[-1]");
    check_int(9007199254740991, "[9007199254740991]");
    check_int(-9007199254740991, "[-9007199254740991]");
    check_int(9007199254740992, NULL);
    check_int(INT64_MIN, NULL);
}

static void write_string(rt_json *json, const void *value) { rt_json_string(json, NULL, value); }

static void check_double(double value, const char *expected) {
    rt_status status;
    char *text = array_of(write_double, &value, &status);
    CHECK_TEXT(expected, text);
    free(text);
}

static void doubles_are_short_and_stay_floats(void) {
    check_double(0.0, "[0.0]");
    check_double(-0.0, "[-0.0]");
    check_double(5.0, "[5.0]");
    check_double(0.1, "[0.1]");
    check_double(1.0 / 3.0, "[0.3333333333333333]");
    check_double(0.1 + 0.2, "[0.30000000000000004]");
    check_double(1e22, "[1e+22]");
    check_double(DBL_MAX, "[1.7976931348623157e+308]");
    check_double(5e-324, "[4.94065645841247e-324]");
}

/* Every bit pattern of a sample, subnormals included, reads back as itself. */
static void every_finite_double_reads_back(void) {
    uint64_t bits = 88172645463325252u; /* xorshift64, Marsaglia 2003 */
    for (int i = 0; i < 20000; i++) {
        double value;
        rt_status status;
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        memcpy(&value, &bits, sizeof value);
        char *text = array_of(write_double, &value, &status);
        if (isfinite(value)) {
            CHECK(text != NULL && strtod(text + 1, NULL) == value);
        } else {
            CHECK(text == NULL && status == RT_INVALID);
        }
        free(text);
    }
}

/* Bug 8: a division by nothing wrote NaN or inf into the JSON, which no strict reader takes. */
static void bug8_what_is_no_number_is_refused(void) {
    static const double refused[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    for (size_t i = 0; i < 3; i++) {
        rt_status status;
        char *text = array_of(write_double, &refused[i], &status);
        CHECK(text == NULL);
        CHECK_UINT(RT_INVALID, status);
        free(text);
    }
}

static void integers_end_where_readers_round(void) {
    const uint64_t last = RT_JSON_INTEGER_MAX, beyond = last + 1;
    rt_status status;
    char *text = array_of(write_uint, &last, &status);
    CHECK_TEXT("[9007199254740991]", text);
    free(text);
    text = array_of(write_uint, &beyond, &status);
    CHECK(text == NULL && status == RT_INVALID);
    free(text);
}

static void check_string(const char *value, const char *expected) {
    rt_status status;
    char *text = array_of(write_string, value, &status);
    CHECK_TEXT(expected, text);
    free(text);
}

static void strings_are_escaped(void) {
    check_string("", "[\"\"]");
    check_string("a\"b\\c/d", "[\"a\\\"b\\\\c/d\"]");
    check_string("\b\f\n\r\t\x01\x1f\x7f", "[\"\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\"]");
    check_string("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "[\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"]");
}

/* Unicode 15, table 3-7: stray, cut, overlong, surrogate and too high sequences. One U+FFFD a byte. */
static void bytes_that_are_no_utf8_are_replaced(void) {
    check_string("a\x80z", "[\"a\xef\xbf\xbdz\"]");
    check_string("\xc3", "[\"\xef\xbf\xbd\"]");
    check_string("\xe2\x82", "[\"\xef\xbf\xbd\xef\xbf\xbd\"]");
    check_string("\xc0\xaf", "[\"\xef\xbf\xbd\xef\xbf\xbd\"]");
    check_string("\xed\xa0\x80", "[\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"]");
    check_string("\xf4\x90\x80\x80", "[\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"]");
}

static void a_whole_document_is_one_line(void) {
    rt_json *json;
    const char *text;
    rt_json_create(&json);
    rt_json_object_begin(json, NULL);
    rt_json_uint(json, "n", 3);
    rt_json_bool(json, "yes", true);
    rt_json_null(json, "none");
    rt_json_hex64(json, "sum", 0xabcu);
    rt_json_array_begin(json, "list");
    rt_json_array_begin(json, NULL);
    rt_json_array_end(json);
    rt_json_object_begin(json, NULL);
    rt_json_object_end(json);
    rt_json_array_end(json);
    rt_json_object_end(json);
    CHECK_UINT(RT_OK, rt_json_finish(json, &text));
    CHECK_TEXT("{\"n\":3,\"yes\":true,\"none\":null,\"sum\":\"0000000000000abc\",\"list\":[[],{}]}", text);
    rt_json_destroy(json);
}

/* Each writes something out of order; none of them may give a text. */
static void value_without_key(rt_json *json) {
    rt_json_object_begin(json, NULL);
    rt_json_uint(json, NULL, 1);
    rt_json_object_end(json);
}

static void key_in_array(rt_json *json) {
    rt_json_array_begin(json, NULL);
    rt_json_uint(json, "key", 1);
    rt_json_array_end(json);
}

static void second_root(rt_json *json) {
    rt_json_null(json, NULL);
    rt_json_null(json, NULL);
}

static void unclosed(rt_json *json) { rt_json_array_begin(json, NULL); }

static void wrong_end(rt_json *json) {
    rt_json_array_begin(json, NULL);
    rt_json_object_end(json);
}

static void end_of_nothing(rt_json *json) { rt_json_array_end(json); }

static void nothing(rt_json *json) { (void)json; }

static void too_deep(rt_json *json) {
    for (int i = 0; i <= RT_JSON_DEPTH_MAX; i++) {
        rt_json_array_begin(json, NULL);
    }
    for (int i = 0; i <= RT_JSON_DEPTH_MAX; i++) {
        rt_json_array_end(json);
    }
}

static void no_text(rt_json *json) { rt_json_string(json, NULL, NULL); }

static void misuse_never_gives_a_text(void) {
    static void (*const mistakes[])(rt_json *) = {value_without_key, key_in_array, second_root,
                                                  unclosed,          wrong_end,    end_of_nothing,
                                                  nothing,           too_deep,     no_text};
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        rt_json *json;
        const char *text = "";
        rt_json_create(&json);
        mistakes[i](json);
        CHECK_UINT(RT_INVALID, rt_json_finish(json, &text));
        CHECK(text == NULL);
        rt_json_destroy(json);
    }
}

int main(void) {
    integers_with_a_sign_keep_what_every_reader_keeps();
    doubles_are_short_and_stay_floats();
    every_finite_double_reads_back();
    bug8_what_is_no_number_is_refused();
    integers_end_where_readers_round();
    strings_are_escaped();
    bytes_that_are_no_utf8_are_replaced();
    a_whole_document_is_one_line();
    misuse_never_gives_a_text();
    return check_done();
}
