/* S11 yield: threads take turns, and each waits for its turn by giving the CPU
 * away again and again.
 *
 *   s11 yielding TURNS [THREADS]   sched_yield until it is one's turn, in await_turn
 *   s11 blocking TURNS [THREADS]   a condition variable per thread
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 64

static atomic_long turn;
static long turns;
static int threads, blocking;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t called[MAX_THREADS];
static volatile uint64_t sink;

__attribute__((noinline)) static long await_turn(int me)
{
    long now;
    if (!blocking) {
        while ((now = atomic_load(&turn)) < turns && now % threads != me)
            sched_yield();
        return now;
    }
    pthread_mutex_lock(&lock);
    while ((now = atomic_load(&turn)) < turns && now % threads != me)
        pthread_cond_wait(&called[me], &lock);
    pthread_mutex_unlock(&lock);
    return now;
}

__attribute__((noinline)) static void pass_turn(long now)
{
    if (!blocking) {
        atomic_store(&turn, now + 1);
        return;
    }
    pthread_mutex_lock(&lock);
    atomic_store(&turn, now + 1);
    for (int t = 0; t < threads; t++)
        if (t == (now + 1) % threads || now + 1 == turns)
            pthread_cond_signal(&called[t]);
    pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) static void take_turn(uint64_t h)
{
    for (int i = 0; i < 400000; i++)
        h = (h ^ (uint64_t)i) * 1099511628211ull;
    sink = h;
}

static void *worker(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (long now; (now = await_turn(me)) < turns;) {
        take_turn((uint64_t)now);
        pass_turn(now);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s11 yielding|blocking TURNS [THREADS]\n");
        return 2;
    }
    blocking = strcmp(argv[1], "blocking") == 0;
    turns = atol(argv[2]);
    threads = argc > 3 ? atoi(argv[3]) : 4;
    if (threads < 1 || threads > MAX_THREADS)
        return 2;
    pthread_t ids[MAX_THREADS];
    for (int t = 0; t < threads; t++)
        pthread_cond_init(&called[t], NULL);
    for (int t = 0; t < threads; t++) {
        char name[16];
        snprintf(name, sizeof name, "s11-worker-%d", t);
        if (pthread_create(&ids[t], NULL, worker, (void *)(intptr_t)t))
            return 1;
        pthread_setname_np(ids[t], name);
    }
    for (int t = 0; t < threads; t++)
        pthread_join(ids[t], NULL);
    return 0;
}
