/* S2b mutex in a CPU-bound program: every operation takes the one lock, for a
 * few instructions, so that nobody waits for it; the time goes into critical.
 *
 *   s2b hammer OPERATIONS [THREADS]   the shared total under the lock, each time
 *   s2b local OPERATIONS [THREADS]    a total per thread, added up at the end
 *
 * OPERATIONS is the total over all threads, whatever their number.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t total;
static int local;

struct share {
    long operations;
    uint64_t sum;
} __attribute__((aligned(128)));

static struct share shares[MAX_THREADS];

/* One operation: the hash is the work, the addition is what the lock guards. */
__attribute__((noinline)) static void critical(struct share *s, uint64_t n)
{
    uint64_t h = 14695981039346656037ull ^ n;
    for (int i = 0; i < 20000; i++)
        h = (h ^ (uint64_t)i) * 1099511628211ull;
    if (local) {
        s->sum += h;
        return;
    }
    pthread_mutex_lock(&lock);
    total += h;
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
    struct share *s = arg;
    for (long n = 0; n < s->operations; n++)
        critical(s, (uint64_t)n);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s2b hammer|local OPERATIONS [THREADS]\n");
        return 2;
    }
    local = strcmp(argv[1], "local") == 0;
    long operations = atol(argv[2]);
    int threads = argc > 3 ? atoi(argv[3]) : 4;
    if (threads < 1 || threads > MAX_THREADS)
        return 2;
    pthread_t ids[MAX_THREADS];
    for (int t = 0; t < threads; t++) {
        char name[16];
        snprintf(name, sizeof name, "s2b-worker-%d", t);
        shares[t].operations = operations / threads;
        if (pthread_create(&ids[t], NULL, worker, &shares[t]))
            return 1;
        pthread_setname_np(ids[t], name);
    }
    for (int t = 0; t < threads; t++)
        pthread_join(ids[t], NULL);
    for (int t = 0; t < threads; t++)
        total += shares[t].sum;
    printf("%llu\n", (unsigned long long)total);
    return 0;
}
