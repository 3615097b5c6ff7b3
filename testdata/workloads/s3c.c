/* S3c ring of 8 live blocks: each message lives for 8 steps, yet heaptrack calls
 * nearly all of them temporary. The work on a message is the cost; the allocator
 * is called some 100 000 times a second and does not matter.
 *
 *   s3c ring MESSAGES      a block per message, in new_message
 *   s3c reused MESSAGES    the 8 blocks are taken once
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIVE 8
#define SIZE 512

static unsigned char *ring[LIVE];
static int reused;

__attribute__((noinline)) static unsigned char *new_message(uint64_t n)
{
    unsigned char **slot = &ring[n % LIVE];
    if (!reused || !*slot) {
        free(*slot);
        *slot = malloc(SIZE);
        if (!*slot)
            abort();
    }
    memset(*slot, (int)n, SIZE);
    return *slot;
}

__attribute__((noinline)) static uint64_t fold_message(unsigned char *message)
{
    uint64_t h = 14695981039346656037ull;
    for (int pass = 0; pass < 12; pass++)
        for (int i = 0; i < SIZE; i++) {
            h = (h ^ message[i]) * 1099511628211ull;
            message[i] = (unsigned char)(h >> 56);
        }
    return h;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s3c ring|reused MESSAGES\n");
        return 2;
    }
    reused = strcmp(argv[1], "reused") == 0;
    uint64_t messages = strtoull(argv[2], NULL, 10), sum = 0;
    for (uint64_t n = 0; n < messages; n++)
        sum += fold_message(new_message(n));
    printf("%llu\n", (unsigned long long)sum);
    for (int i = 0; i < LIVE; i++)
        free(ring[i]);
    return 0;
}
