/* S6 sleep: a worker that polls with a sleep of 1 ms between two items.
 *
 *   s6 sleeping ITEMS    nanosleep(1 ms) before each item, in w_sleep
 *   s6 driven ITEMS      the items come one after the other; nobody waits
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile unsigned sink;
static int driven;

__attribute__((noinline)) static void w_sleep(void)
{
    const struct timespec pause = {0, 1000000};
    if (!driven)
        nanosleep(&pause, NULL);
}

__attribute__((noinline)) static void handle_item(unsigned n)
{
    unsigned h = 2166136261u + n;
    for (unsigned i = 0; i < 4000; i++)
        h = (h ^ i) * 16777619u;
    sink = h;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s6 sleeping|driven ITEMS\n");
        return 2;
    }
    driven = strcmp(argv[1], "driven") == 0;
    long items = atol(argv[2]);
    for (long n = 0; n < items; n++) {
        w_sleep();
        handle_item((unsigned)n);
    }
    return 0;
}
