/* S8 mmap churn: a mapping of 1 MiB per operation, 16 pages of it touched.
 *
 *   s8 mapped OPERATIONS   mmap and munmap each time, in scratch_buf
 *   s8 pooled OPERATIONS   one mapping, used again and again
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SIZE (1u << 20)
#define PAGES 16

static int pooled;
static volatile uint64_t sink;

static char *map(void)
{
    char *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        abort();
    return p;
}

/* One operation in a buffer of its own. */
__attribute__((noinline)) static uint64_t scratch_buf(uint64_t n)
{
    static char *pool;
    if (pooled && !pool)
        pool = map();
    char *buffer = pooled ? pool : map();
    for (int i = 0; i < PAGES; i++)
        buffer[i * 4096] = (char)(n + (uint64_t)i);
    uint64_t h = n;
    for (int i = 0; i < PAGES; i++)
        h = (h ^ (unsigned char)buffer[i * 4096]) * 1099511628211ull;
    if (!pooled)
        munmap(buffer, SIZE);
    return h;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s8 mapped|pooled OPERATIONS\n");
        return 2;
    }
    pooled = strcmp(argv[1], "pooled") == 0;
    uint64_t operations = strtoull(argv[2], NULL, 10), h = 0;
    for (uint64_t n = 0; n < operations; n++)
        h += scratch_buf(n);
    sink = h;
    return 0;
}
