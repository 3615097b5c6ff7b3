/* What a few basic things cost on this machine, in nanoseconds. Rate thresholds of Tripod are stated as a share of a
 * CPU divided by such a cost. Each number is the least of five rounds: what disturbs a round only adds to it.
 *
 *   costs SCRATCH-FILE     prints {"schema": 1, "costs": {"malloc_pair_ns": ..., ...}}
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 5, BLOCKS = 20000, PAIRS = 500000, PAGES = 8192, WRITES = 50000, TRIPS = 20000 };

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static unsigned long seed = 1;

static unsigned long next_number(void)
{
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return seed >> 33;
}

/* One free and one malloc, with 20 000 live blocks of 16 to 1024 bytes. */
static double malloc_pair(void)
{
    static void *live[BLOCKS];
    double begin;
    for (int i = 0; i < BLOCKS; i++)
        if (!live[i])
            live[i] = malloc(16 + next_number() % 1009);
    begin = now(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < PAIRS; i++) {
        unsigned long at = next_number() % BLOCKS;
        free(live[at]);
        live[at] = malloc(16 + next_number() % 1009);
        if (!live[at])
            return -1;
        *(volatile char *)live[at] = 1;
    }
    return (now(CLOCK_PROCESS_CPUTIME_ID) - begin) / PAIRS;
}

/* The first touch of a page of 4 KiB. */
static double page_fault(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = PAGES * page;
    double begin, cost;
    volatile char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if ((void *)memory == MAP_FAILED)
        return -1;
    madvise((void *)memory, size, MADV_NOHUGEPAGE);
    begin = now(CLOCK_PROCESS_CPUTIME_ID);
    for (size_t at = 0; at < size; at += page)
        memory[at] = 1;
    cost = (now(CLOCK_PROCESS_CPUTIME_ID) - begin) / PAGES;
    munmap((void *)memory, size);
    return cost;
}

/* A system call that does little: a write of 16 bytes to a file. */
static double system_call(int fd)
{
    static const char bytes[16] = "0123456789abcde";
    double begin;
    if (lseek(fd, 0, SEEK_SET) < 0)
        return -1;
    begin = now(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < WRITES; i++)
        if (write(fd, bytes, sizeof bytes) != (ssize_t)sizeof bytes)
            return -1;
    return (now(CLOCK_PROCESS_CPUTIME_ID) - begin) / WRITES;
}

/* Two processes on one CPU hand a byte to each other: one switch, with the write that causes it and the read. */
static double context_switch(void)
{
    int there[2], back[2];
    cpu_set_t one;
    char byte = 0;
    double begin, cost;
    pid_t child;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (pipe(there) || pipe(back) || sched_setaffinity(0, sizeof one, &one))
        return -1;
    child = fork();
    if (child < 0)
        return -1;
    if (child == 0) {
        close(there[1]);
        while (read(there[0], &byte, 1) == 1)
            if (write(back[1], &byte, 1) != 1)
                break;
        _exit(0);
    }
    begin = now(CLOCK_MONOTONIC);
    cost = 0;
    for (int i = 0; i < TRIPS && cost >= 0; i++)
        if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
            cost = -1;
    if (cost >= 0)
        cost = (now(CLOCK_MONOTONIC) - begin) / (2.0 * TRIPS);
    close(there[1]);
    close(there[0]);
    close(back[0]);
    close(back[1]);
    waitpid(child, NULL, 0);
    return cost;
}

int main(int argc, char **argv)
{
    static const char *const names[4] = {"malloc_pair_ns", "page_fault_ns", "system_call_ns", "context_switch_ns"};
    double least[4] = {-1, -1, -1, -1};
    int first = 1, fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
    if (fd < 0) {
        fprintf(stderr, "usage: costs SCRATCH-FILE\n");
        return 2;
    }
    for (int round = 0; round < ROUNDS; round++) {
        double cost[4] = {malloc_pair(), page_fault(), system_call(fd), -1};
        /* Last, since it keeps the process on one CPU. */
        cost[3] = context_switch();
        for (int i = 0; i < 4; i++)
            if (cost[i] > 0 && (least[i] < 0 || cost[i] < least[i]))
                least[i] = cost[i];
    }
    unlink(argv[1]);
    printf("{\"schema\": 1, \"costs\": {");
    for (int i = 0; i < 4; i++) {
        if (least[i] > 0) {
            printf("%s\"%s\": %.1f", first ? "" : ", ", names[i], least[i]);
            first = 0;
        }
    }
    printf("}}\n");
    return 0;
}
