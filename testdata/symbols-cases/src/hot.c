/* Functions inlined two levels deep, a call as the last instruction of a line, recursion. usage: hot CPU_MILLISECONDS */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sink;

static inline __attribute__((always_inline)) uint64_t mix(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 29;
    return x;
}

static inline __attribute__((always_inline)) uint64_t rounds(uint64_t x, int n) {
    for (int i = 0; i < n; i++)
        x = mix(x + (uint64_t)i);
    return x ^ mix(~x);
}

__attribute__((noinline)) uint64_t hash(uint64_t x) {
    uint64_t y = rounds(x, 48);
    y += mix(x);
    return y;
}

__attribute__((noinline)) static uint64_t tree(uint64_t x, int depth) {
    if (depth == 0)
        return hash(x);
    uint64_t left = tree(x * 3 + 1, depth - 1);
    uint64_t right = tree(x * 5 + 2, depth - 1);
    return rounds(left, 6) + right;
}

__attribute__((noinline)) static void burn(uint64_t seed) {
    sink += tree(seed, 8);
    sink += hash(seed);
}

static long used_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int main(int argc, char **argv) {
    long until = argc > 1 ? atol(argv[1]) : 100;
    for (uint64_t i = 0; used_ms() < until; i++)
        burn(i);
    printf("%llu\n", (unsigned long long)sink);
    return 0;
}
