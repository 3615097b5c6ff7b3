/* S12 over-subscription: more compute threads than CPUs, each with its share of
 * the same total work.
 *
 *   s12 compute ROUNDS [THREADS]   8 threads on 2 CPUs; the repaired run has 2
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_THREADS 64

static volatile uint64_t sink;

__attribute__((noinline)) static uint64_t crunch(uint64_t h)
{
    for (int i = 0; i < 10000; i++)
        h = (h ^ (uint64_t)i) * 1099511628211ull;
    return h;
}

static void *worker(void *arg)
{
    long rounds = (long)(intptr_t)arg;
    uint64_t h = 1;
    for (long n = 0; n < rounds; n++)
        h = crunch(h);
    sink = h;
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s12 compute ROUNDS [THREADS]\n");
        return 2;
    }
    long rounds = atol(argv[2]);
    int threads = argc > 3 ? atoi(argv[3]) : 8;
    if (threads < 1 || threads > MAX_THREADS)
        return 2;
    pthread_t ids[MAX_THREADS];
    for (int t = 0; t < threads; t++) {
        char name[16];
        snprintf(name, sizeof name, "s12-worker-%d", t);
        if (pthread_create(&ids[t], NULL, worker, (void *)(intptr_t)(rounds / threads)))
            return 1;
        pthread_setname_np(ids[t], name);
    }
    for (int t = 0; t < threads; t++)
        pthread_join(ids[t], NULL);
    return 0;
}
