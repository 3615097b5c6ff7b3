/* S3b looks like churn: a key is formatted, copied into a fresh block, and the
 * block is freed at once. The formatting is the cost, not the allocator.
 *
 *   s3b formatted KEYS    snprintf makes the key, in format_key
 *   s3b quiet KEYS        no formatting: the same numbers are put in by hand
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int quiet;

static inline size_t put_hex(char *to, uint64_t n)
{
    for (int i = 7; i >= 0; i--, n >>= 4)
        to[i] = "0123456789abcdef"[n & 15];
    return 8;
}

__attribute__((noinline)) static size_t format_key(char *to, size_t room, uint64_t n)
{
    unsigned shard = (unsigned)(n % 97), row = (unsigned)n;
    if (!quiet)
        return (size_t)snprintf(to, room, "shard-%08x/row-%08x/part-%08x/%s", shard, row, row ^ shard, "current");
    size_t len = put_hex(to, shard);
    len += put_hex(to + len, row);
    len += put_hex(to + len, row ^ shard);
    to[len] = 0;
    return len;
}

/* The key as the map would keep it. */
__attribute__((noinline)) static char *copy_key(const char *key, size_t len)
{
    char *copy = malloc(len + 1);
    if (!copy)
        abort();
    memcpy(copy, key, len + 1);
    return copy;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s3b formatted|quiet KEYS\n");
        return 2;
    }
    quiet = strcmp(argv[1], "quiet") == 0;
    uint64_t keys = strtoull(argv[2], NULL, 10), sum = 0;
    for (uint64_t n = 0; n < keys; n++) {
        char key[96];
        size_t len = format_key(key, sizeof key, n * 2654435761u);
        char *copy = copy_key(key, len);
        sum += (unsigned char)copy[len / 2] + len;
        free(copy);
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
