/* The stand-alone program from outside: exit codes, what it prints where, and Ctrl-C. */
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* BENCH_RUNTIME is the path of the program, given by the build. */

typedef struct answer {
    int code;
    size_t length;
    char text[262144];
} answer;

static answer last;

static void read_answer(FILE *pipe) {
    last.length = fread(last.text, 1, sizeof last.text - 1, pipe);
    last.text[last.length] = '\0';
}

static void ask(const char *arguments) {
    char command[1024];
    snprintf(command, sizeof command, "%s %s 2>&1", BENCH_RUNTIME, arguments);
    FILE *pipe = popen(command, "r");
    CHECK(pipe != NULL);
    if (pipe == NULL) {
        return;
    }
    read_answer(pipe);
    const int status = pclose(pipe);
    last.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool starts_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

static void a_completed_run_is_one_line_of_json(void) {
    ask("--tasks 1000 --context-bytes 65536 --run-id 00000000000000ab");
    CHECK_UINT(0, last.code);
    CHECK(starts_with(last.text, "{\"manifest\":{\"build\":{"));
    CHECK(strstr(last.text, ",\"run\":{\"index\":0,\"repetition\":1,\"run_id\":\"00000000000000ab\",") !=
          NULL);
    CHECK(last.length > 3 && strcmp(last.text + last.length - 3, "}}\n") == 0);
    CHECK(strchr(last.text, '\n') == last.text + last.length - 1);
}

static void a_wrong_command_line_is_misuse(void) {
    static const char *const wrong[][2] = {
        {"--tasks 0", "bench-runtime: tasks is 0; choose 1 to 1099511627776\n"},
        {"--workers 1025", "bench-runtime: workers is 1025; choose 1 to 1024\n"},
        {"--tasks many", "bench-runtime: --tasks many: use a whole number below 2^64\n"},
        {"--tasks -1", "bench-runtime: --tasks -1: use a whole number below 2^64\n"},
        {"--tasks 1e3", "bench-runtime: --tasks 1e3: use a whole number below 2^64\n"},
        {"--tasks 18446744073709551616", /* 2^64 */
         "bench-runtime: --tasks 18446744073709551616: use a whole number below 2^64\n"},
        {"--tasks", "bench-runtime: --tasks needs a value\n"},
        {"--roles 5", "bench-runtime: there is no option --roles; --help lists them all\n"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ask(wrong[i][0]);
        CHECK_UINT(2, last.code);
        CHECK_TEXT(wrong[i][1], last.text);
    }
}

static void a_run_that_does_not_complete_is_told_by_the_exit_code(void) {
    ask("--tasks 1000 --context-bytes 65536 --queue-limit 1");
    CHECK_UINT(1, last.code);
    CHECK(strstr(last.text, "\"outcome\":\"overloaded\"") != NULL);
}

/* The answers go to stderr, which ask() reads. /dev/full takes nothing; the second has no output at all. */
static void an_output_that_cannot_be_written_is_told(void) {
    static const char *const nowhere[] = {"--tasks 1000 --context-bytes 65536 2>&1 >/dev/full #",
                                          "--tasks 1000 --context-bytes 65536 2>&1 >&- #",
                                          "--help 2>&1 >/dev/full #"};
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        ask(nowhere[i]);
        CHECK_UINT(1, last.code);
        CHECK_TEXT("bench-runtime: standard output cannot be written; give it a place with room\n", last.text);
    }
}

static void help_lists_the_options_with_their_defaults(void) {
    ask("--help");
    CHECK_UINT(0, last.code);
    CHECK(strstr(last.text, "--context-bytes") != NULL && strstr(last.text, "(default: 8388608)") != NULL);
    CHECK(strstr(last.text, "\n\nFaults:\n  --fail-permille") != NULL);
}

static long threads_of(pid_t process) {
    char path[64], line[128];
    long threads = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)process);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        sscanf(line, "Threads: %ld", &threads);
    }
    if (file != NULL) {
        fclose(file);
    }
    return threads;
}

/* The program blocks its signals before it starts threads: once they are there, a signal cannot kill it. */
static void an_interruption_keeps_the_record(void) {
    int ends[2], status;
    CHECK_UINT(0, pipe(ends));
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execl(BENCH_RUNTIME, BENCH_RUNTIME, "--tasks", "10000000", "--submission", "paced", "--window", "0",
              "--rate-per-s", "1000", "--workers", "8", "--aux-workers", "8", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    while (threads_of(child) < 17) {
        sched_yield();
    }
    kill(child, SIGINT);
    FILE *output = fdopen(ends[0], "r");
    read_answer(output);
    fclose(output);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    CHECK_UINT(1, WEXITSTATUS(status));
    CHECK(strstr(last.text, "\"outcome\":\"killed\"") != NULL);
    CHECK(strstr(last.text, "\"cause\":\"interrupted by signal 2 (SIGINT)\"") != NULL);
}

int main(void) {
    a_completed_run_is_one_line_of_json();
    a_wrong_command_line_is_misuse();
    a_run_that_does_not_complete_is_told_by_the_exit_code();
    an_output_that_cannot_be_written_is_told();
    help_lists_the_options_with_their_defaults();
    an_interruption_keeps_the_record();
    return check_done();
}
