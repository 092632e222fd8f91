/* Loses a block on purpose: a sanitizer build that does not report it would not report a real leak either. */
#include <stdlib.h>

static void *volatile block;

int main(void) {
    block = malloc(24);
    block = NULL;
    return 0;
}
