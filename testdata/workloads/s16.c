/* S16 mmap_lock: threads that map, touch and unmap in one address space, where
 * the kernel lets one of them at a time change the list of mappings.
 *
 *   s16 mapping OPERATIONS [THREADS]    mmap, touch, munmap, in window_buf
 *   s16 keeping OPERATIONS [THREADS]    a mapping per thread, kept
 *
 * OPERATIONS is the total over all threads, whatever their number.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MAX_THREADS 64
#define SIZE (256u << 10)

static int keeping;
static long share;
static volatile uint64_t sink;

static unsigned char *map(void)
{
    unsigned char *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        abort();
    return p;
}

__attribute__((noinline)) static uint64_t window_buf(unsigned char **kept, uint64_t n)
{
    unsigned char *p = *kept ? *kept : map();
    for (size_t i = 0; i < SIZE; i += 4096)
        p[i] = (unsigned char)(n + i);
    uint64_t h = n;
    for (size_t i = 0; i < SIZE; i += 4096)
        h = (h ^ p[i]) * 1099511628211ull;
    if (keeping)
        *kept = p;
    else
        munmap(p, SIZE);
    return h;
}

static void *worker(void *arg)
{
    unsigned char *kept = NULL;
    uint64_t h = (uint64_t)(intptr_t)arg;
    for (long n = 0; n < share; n++)
        h = window_buf(&kept, h);
    sink = h;
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s16 mapping|keeping OPERATIONS [THREADS]\n");
        return 2;
    }
    keeping = strcmp(argv[1], "keeping") == 0;
    int threads = argc > 3 ? atoi(argv[3]) : 4;
    if (threads < 1 || threads > MAX_THREADS)
        return 2;
    share = atol(argv[2]) / threads;
    pthread_t ids[MAX_THREADS];
    for (int t = 0; t < threads; t++) {
        char name[16];
        snprintf(name, sizeof name, "s16-worker-%d", t);
        if (pthread_create(&ids[t], NULL, worker, (void *)(intptr_t)t))
            return 1;
        pthread_setname_np(ids[t], name);
    }
    for (int t = 0; t < threads; t++)
        pthread_join(ids[t], NULL);
    return 0;
}
