/* Two threads add to a plain integer without a lock: ThreadSanitizer must stop this program. */
#include <pthread.h>

static volatile int shared;

static void *add(void *argument) {
    for (int i = 0; i < 1000; i++) {
        shared = shared + 1;
    }
    return argument;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, add, 0);
    pthread_create(&threads[1], 0, add, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
