/* S3 allocator churn: each step frees a random slot of a table of 20 000 and
 * allocates 16 to 1 039 bytes in its place.
 *
 *   s3 churn STEPS           malloc and free per step, in new_node
 *   s3 preallocated STEPS    the same steps on memory taken once
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 20000
#define LARGEST 1040

struct node {
    uint64_t key;
    uint32_t size;
    char payload[];
};

static struct node *table[SLOTS];
static char *pool;

static uint64_t state = 88172645463325252ull;

static inline uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* A new node for the slot; whatever was there goes. */
__attribute__((noinline)) static struct node *new_node(size_t slot, size_t size)
{
    if (!pool)
        free(table[slot]);
    struct node *n = pool ? (struct node *)(pool + slot * LARGEST) : malloc(size);
    if (!n)
        abort();
    n->key = slot;
    n->size = (uint32_t)size;
    return n;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s3 churn|preallocated STEPS\n");
        return 2;
    }
    long steps = atol(argv[2]);
    if (strcmp(argv[1], "preallocated") == 0 && !(pool = malloc((size_t)SLOTS * LARGEST)))
        return 1;
    uint64_t sum = 0;
    for (long i = 0; i < steps; i++) {
        uint64_t r = next_random();
        size_t slot = (r >> 20) % SLOTS;
        size_t size = 16 + (r & 1023);
        table[slot] = new_node(slot, size);
        sum += size;
    }
    printf("%llu\n", (unsigned long long)sum);
    for (size_t slot = 0; slot < SLOTS && !pool; slot++)
        free(table[slot]);
    free(pool);
    return 0;
}
