/* Mistakes on purpose, linked into the extension module of a sanitizer build and into no other. Each is called by
 * tests/sanitizers, which passes only when the sanitizer stops the process and names the mistake. */
#include <pthread.h>
#include <stdlib.h>

#define VISIBLE __attribute__((visibility("default")))

#if defined(__SANITIZE_ADDRESS__)
/* Without UBSan, whose knowledge of the object's size would stop the write first. */
VISIBLE __attribute__((no_sanitize("undefined"))) int canary_heap(void);
VISIBLE __attribute__((no_sanitize("undefined"))) int canary_heap(void) {
    volatile char *const block = malloc(8);
    volatile size_t beyond = 8;
    block[beyond] = 1;
    free((void *)block);
    return 0;
}
#endif

#if !defined(__SANITIZE_THREAD__)
VISIBLE int canary_undefined(void);
VISIBLE int canary_undefined(void) {
    volatile int one = 1, width = 32;
    return one << width;
}
#else
static volatile int shared;

static void *add(void *unused) {
    for (int i = 0; i < 100000; i++) {
        shared = shared + 1;
    }
    return unused;
}

VISIBLE int canary_race(void);
VISIBLE int canary_race(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, add, NULL);
    pthread_create(&threads[1], NULL, add, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return shared == 0;
}
#endif
