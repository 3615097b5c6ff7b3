/* S7 memory leak: 1 KiB blocks that nobody frees.
 *
 *   s7 leaked BLOCKS    cache_insert allocates and fills; nothing is freed
 *   s7 freed BLOCKS     the same, but each block is freed after its use
 *
 * A pause of 1 ms per 20 000 blocks stands for the requests in between.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BLOCK 1024

static volatile uint64_t sink;

__attribute__((noinline)) static char *cache_insert(long n)
{
    char *block = malloc(BLOCK);
    if (!block)
        abort();
    memset(block, (int)n | 1, BLOCK);
    return block;
}

__attribute__((noinline)) static uint64_t use_block(const char *block)
{
    uint64_t h = 14695981039346656037ull, word;
    for (int i = 0; i < BLOCK; i += 8) {
        memcpy(&word, block + i, 8);
        h = (h ^ word) * 1099511628211ull;
    }
    return h;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s7 leaked|freed BLOCKS\n");
        return 2;
    }
    int release = strcmp(argv[1], "freed") == 0;
    long blocks = atol(argv[2]);
    const struct timespec pause = {0, 1000000};
    uint64_t sum = 0;
    for (long n = 0; n < blocks; n++) {
        char *block = cache_insert(n);
        sum += use_block(block);
        if (release)
            free(block);
        if (n % 20000 == 19999)
            nanosleep(&pause, NULL);
    }
    sink = sum;
    return 0;
}
