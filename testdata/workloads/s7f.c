/* S7f fragmentation: 200 000 blocks of 1 000 bytes, then all but every 32nd are
 * freed. The survivors keep nearly every page of the heap resident.
 *
 *   s7f scattered BLOCKS   the survivors stay where they are
 *   s7f compact BLOCKS     the survivors move into one block of their own first
 *
 * After that the survivors are served 200 times over.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 1000
#define KEPT 32

static char **blocks;
static volatile uint64_t sink;

__attribute__((noinline)) static void load_phase(long count)
{
    for (long n = 0; n < count; n++) {
        blocks[n] = malloc(BLOCK);
        if (!blocks[n])
            abort();
        memset(blocks[n], (int)n | 1, BLOCK);
    }
}

/* Frees what the next phase does not need. */
__attribute__((noinline)) static void drop_phase(long count, char *pool)
{
    for (long n = 0; n < count; n++) {
        if (n % KEPT == 0 && !pool)
            continue;
        if (n % KEPT == 0)
            memcpy(pool + n / KEPT * BLOCK, blocks[n], BLOCK);
        free(blocks[n]);
        blocks[n] = n % KEPT == 0 ? pool + n / KEPT * BLOCK : NULL;
    }
}

__attribute__((noinline)) static uint64_t serve_phase(long count, uint64_t h)
{
    for (long n = 0; n < count; n += KEPT)
        for (int i = 0; i < BLOCK; i++)
            h = (h ^ (unsigned char)blocks[n][i]) * 1099511628211ull;
    return h;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s7f scattered|compact BLOCKS\n");
        return 2;
    }
    long count = atol(argv[2]);
    char *pool = NULL;
    blocks = malloc((size_t)count * sizeof *blocks);
    if (strcmp(argv[1], "compact") == 0)
        pool = malloc((size_t)(count / KEPT + 1) * BLOCK);
    if (!blocks)
        return 1;
    load_phase(count);
    drop_phase(count, pool);
    uint64_t h = 14695981039346656037ull;
    for (int round = 0; round < 200; round++)
        h = serve_phase(count, h);
    sink = h;
    return 0;
}
