/* S9 scan: N numbers, each looked for among those seen so far.
 *
 *   s9 scan N      from the first one on, in find_linear: O(n^2)
 *   s9 hashed N    in an open hash table: O(n)
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t *seen;
static size_t count;
static uint32_t *table;
static size_t mask;

__attribute__((noinline)) static int find_linear(uint32_t value)
{
    for (size_t i = 0; i < count; i++)
        if (seen[i] == value)
            return 1;
    return 0;
}

/* Whether it was there; it is afterwards. */
__attribute__((noinline)) static int find_hashed(uint32_t value)
{
    size_t at = (value * 2654435761u) & mask;
    while (table[at] != 0 && table[at] != value)
        at = (at + 1) & mask;
    if (table[at] == value)
        return 1;
    table[at] = value;
    return 0;
}

/* A bijection of the 32-bit numbers that leaves only 0 where it is: no number comes twice. */
static uint32_t next_value(uint32_t n)
{
    n = (n ^ n >> 16) * 0x7FEB352Du;
    n = (n ^ n >> 15) * 0x846CA68Bu;
    return n ^ n >> 16;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s9 scan|hashed N\n");
        return 2;
    }
    int hashed = strcmp(argv[1], "hashed") == 0;
    size_t n = strtoull(argv[2], NULL, 10);
    for (mask = 1; mask < 2 * n; mask *= 2)
        ;
    seen = malloc(n * sizeof *seen);
    table = hashed ? calloc(mask--, sizeof *table) : NULL;
    if (!seen || (hashed && !table))
        return 1;
    for (size_t i = 0; i < n; i++) {
        uint32_t value = next_value((uint32_t)i + 1);
        if (!(hashed ? find_hashed(value) : find_linear(value)))
            seen[count++] = value;
    }
    printf("%zu\n", count);
    free(seen);
    free(table);
    return 0;
}
