/* S17 handoff: two threads on one CPU that pass a token through two pipes.
 *
 *   s17 single TOKENS    a token per message, in pass_token
 *   s17 batched TOKENS   256 tokens per message
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BATCH 256

static int to_worker[2], to_main[2];
static long batch = 1;
static volatile uint64_t sink;

__attribute__((noinline)) static uint64_t use_token(uint64_t h)
{
    for (int i = 0; i < 100; i++)
        h = (h ^ (uint64_t)i) * 1099511628211ull;
    return h;
}

/* Gives the tokens to the other side. */
__attribute__((noinline)) static void pass_token(int fd, const uint64_t *tokens)
{
    size_t bytes = (size_t)batch * sizeof *tokens;
    if (write(fd, tokens, bytes) != (ssize_t)bytes)
        abort();
}

/* Takes them from there; false at the end. */
__attribute__((noinline)) static int take_token(int fd, uint64_t *tokens)
{
    size_t bytes = (size_t)batch * sizeof *tokens;
    return read(fd, tokens, bytes) == (ssize_t)bytes;
}

static void *worker(void *arg)
{
    uint64_t tokens[BATCH];
    (void)arg;
    while (take_token(to_worker[0], tokens)) {
        for (long i = 0; i < batch; i++)
            tokens[i] = use_token(tokens[i]);
        pass_token(to_main[1], tokens);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s17 single|batched TOKENS\n");
        return 2;
    }
    if (strcmp(argv[1], "batched") == 0)
        batch = BATCH;
    long total = atol(argv[2]);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    pthread_t id;
    if (sched_setaffinity(0, sizeof one, &one) != 0 || pipe(to_worker) != 0 || pipe(to_main) != 0 || pthread_create(&id, NULL, worker, NULL))
        return 1;
    pthread_setname_np(id, "s17-worker");
    uint64_t tokens[BATCH] = {1};
    for (long n = 0; n < total; n += batch) {
        pass_token(to_worker[1], tokens);
        if (!take_token(to_main[0], tokens))
            return 1;
        for (long i = 0; i < batch; i++)
            tokens[i] = use_token(tokens[i]);
    }
    sink = tokens[0];
    close(to_worker[1]);
    pthread_join(id, NULL);
    return 0;
}
