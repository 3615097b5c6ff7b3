/* S18 serial: one thread prepares each round while the others wait for it; what
 * they do then is short.
 *
 *   s18 serial ROUNDS [THREADS]     the leader prepares alone, in prepare_round
 *   s18 parallel ROUNDS [THREADS]   each thread prepares its own part
 *
 * The work of a round is the same, whatever the number of threads.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 64
#define PARTS 96

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static long rounds, prepared = -1;
static int threads, serial, working;
static uint64_t parts[PARTS];

/* The parts from `first` on in steps of `step`. */
__attribute__((noinline)) static void prepare_round(int first, int step)
{
    for (int p = first; p < PARTS; p += step)
        for (int i = 0; i < 20000; i++)
            parts[p] = (parts[p] ^ (uint64_t)i) * 1099511628211ull;
}

__attribute__((noinline)) static void finish_part(int me)
{
    for (int p = me; p < PARTS; p += threads)
        for (int i = 0; i < 100; i++)
            parts[p] = (parts[p] ^ (uint64_t)i) * 1099511628211ull;
}

__attribute__((noinline)) static void await_round(long round)
{
    pthread_mutex_lock(&lock);
    while (prepared < round)
        pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
}

static void end_part(void)
{
    pthread_mutex_lock(&lock);
    if (--working == 0)
        pthread_cond_signal(&done);
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (long n = 0; n < rounds; n++) {
        await_round(n);
        if (!serial)
            prepare_round(me, threads);
        finish_part(me);
        end_part();
    }
    return NULL;
}

/* The leader is one of the threads. */
static void lead(long n)
{
    if (serial)
        prepare_round(0, 1);
    pthread_mutex_lock(&lock);
    prepared = n;
    working = threads;
    pthread_cond_broadcast(&ready);
    pthread_mutex_unlock(&lock);
    if (!serial)
        prepare_round(0, threads);
    finish_part(0);
    end_part();
    pthread_mutex_lock(&lock);
    while (working > 0)
        pthread_cond_wait(&done, &lock);
    pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s18 serial|parallel ROUNDS [THREADS]\n");
        return 2;
    }
    serial = strcmp(argv[1], "serial") == 0;
    rounds = atol(argv[2]);
    threads = argc > 3 ? atoi(argv[3]) : 2;
    if (threads < 1 || threads > MAX_THREADS)
        return 2;
    pthread_t ids[MAX_THREADS];
    for (int t = 1; t < threads; t++) {
        char name[16];
        snprintf(name, sizeof name, "s18-worker-%d", t);
        if (pthread_create(&ids[t], NULL, worker, (void *)(intptr_t)t))
            return 1;
        pthread_setname_np(ids[t], name);
    }
    for (long n = 0; n < rounds; n++)
        lead(n);
    for (int t = 1; t < threads; t++)
        pthread_join(ids[t], NULL);
    printf("%llu\n", (unsigned long long)parts[0]);
    return 0;
}
