/* Writes past the end of a block: AddressSanitizer must stop this program. */
#include <stdlib.h>

int main(void) {
    volatile char *const block = malloc(8);
    volatile size_t beyond = 8;
    block[beyond] = 1;
    free((void *)block);
    return 0;
}
