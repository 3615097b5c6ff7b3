/* S10 thread churn: a thread per request, joined at once.
 *
 *   s10 threads REQUESTS   pthread_create and pthread_join, in serve_request
 *   s10 inline REQUESTS    the requests are handled by the one thread there is
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int in_place;

__attribute__((noinline)) static void *handle(void *arg)
{
    uint64_t *value = arg, h = *value;
    for (int i = 0; i < 150000; i++)
        h = (h ^ (uint64_t)i) * 1099511628211ull;
    *value = h;
    return NULL;
}

__attribute__((noinline)) static uint64_t serve_request(uint64_t n)
{
    uint64_t value = n;
    if (in_place) {
        handle(&value);
        return value;
    }
    pthread_t id;
    if (pthread_create(&id, NULL, handle, &value))
        abort();
    pthread_join(id, NULL);
    return value;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s10 threads|inline REQUESTS\n");
        return 2;
    }
    in_place = strcmp(argv[1], "inline") == 0;
    uint64_t requests = strtoull(argv[2], NULL, 10), sum = 0;
    for (uint64_t n = 0; n < requests; n++)
        sum += serve_request(n);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
