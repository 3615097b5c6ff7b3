/* S2 lock convoy: threads that sleep 1 ms while they hold one mutex.
 *
 *   s2 convoy OPERATIONS [THREADS]    one lock for all
 *   s2 sharded OPERATIONS [THREADS]   one lock per thread
 *
 * OPERATIONS is the total over all threads, whatever their number.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_THREADS 64

struct shard {
    pthread_mutex_t lock;
    long left;
} __attribute__((aligned(128)));

static struct shard shards[MAX_THREADS];
static volatile unsigned sink;

/* Takes one operation off the shard; the sleep stands for I/O under the lock. */
__attribute__((noinline)) static int convoy(struct shard *s)
{
    const struct timespec io = {0, 1000000};
    pthread_mutex_lock(&s->lock);
    int more = s->left > 0;
    if (more) {
        s->left--;
        nanosleep(&io, NULL);
    }
    pthread_mutex_unlock(&s->lock);
    return more;
}

__attribute__((noinline)) static void prepare(unsigned rounds)
{
    unsigned h = 2166136261u;
    for (unsigned i = 0; i < rounds; i++)
        h = (h ^ i) * 16777619u;
    sink = h;
}

static void *worker(void *arg)
{
    while (convoy(arg))
        prepare(800);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s2 convoy|sharded OPERATIONS [THREADS]\n");
        return 2;
    }
    int sharded = strcmp(argv[1], "sharded") == 0;
    long total = atol(argv[2]);
    int threads = argc > 3 ? atoi(argv[3]) : 4;
    if (threads < 1 || threads > MAX_THREADS)
        return 2;
    pthread_t ids[MAX_THREADS];
    for (int t = 0; t < threads; t++) {
        pthread_mutex_init(&shards[t].lock, NULL);
        shards[t].left = sharded ? total / threads : 0;
    }
    if (!sharded)
        shards[0].left = total;
    for (int t = 0; t < threads; t++) {
        char name[16];
        snprintf(name, sizeof name, "s2-worker-%d", t);
        if (pthread_create(&ids[t], NULL, worker, &shards[sharded ? t : 0]))
            return 1;
        pthread_setname_np(ids[t], name);
    }
    for (int t = 0; t < threads; t++)
        pthread_join(ids[t], NULL);
    return 0;
}
