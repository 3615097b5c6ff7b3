/* S8f fault storm: a mapping of 256 MiB of small pages, all touched, per round.
 *
 *   s8f fresh ROUNDS    a new mapping each round: each page faults in again
 *   s8f reused ROUNDS   one mapping: the pages fault in once
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SIZE (256ul << 20)

static char *map(void)
{
    char *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || madvise(p, SIZE, MADV_NOHUGEPAGE) != 0)
        abort();
    return p;
}

__attribute__((noinline)) static void touch(char *p, char value)
{
    for (size_t i = 0; i < SIZE; i += 4096)
        p[i] = value;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s8f fresh|reused ROUNDS\n");
        return 2;
    }
    int reused = strcmp(argv[1], "reused") == 0;
    long rounds = atol(argv[2]);
    char *p = NULL;
    for (long n = 0; n < rounds; n++) {
        if (!p)
            p = map();
        touch(p, (char)n);
        if (!reused) {
            munmap(p, SIZE);
            p = NULL;
        }
    }
    return 0;
}
