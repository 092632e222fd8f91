/* Shifts a 32-bit one by 32: UndefinedBehaviorSanitizer must stop this program. */
int main(void) {
    volatile int bits = 32;
    volatile int shifted = 1 << bits;
    return shifted & 0;
}
