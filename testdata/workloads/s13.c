/* S13 fork and exec: a process per item.
 *
 *   s13 processes ITEMS   the program is started anew for each item, in spawn_item
 *   s13 inline ITEMS      the items are handled in the process there is
 */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static volatile uint64_t sink;

__attribute__((noinline)) static void handle_item(uint64_t n)
{
    uint64_t h = 14695981039346656037ull ^ n;
    for (int i = 0; i < 20000; i++)
        h = (h ^ (uint64_t)i) * 1099511628211ull;
    sink = h;
}

__attribute__((noinline)) static void spawn_item(uint64_t n)
{
    char number[24];
    snprintf(number, sizeof number, "%llu", (unsigned long long)n);
    char *argv[] = {"s13", "item", number, NULL}, *environment[] = {NULL};
    pid_t child;
    int status;
    if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, argv, environment) != 0)
        abort();
    if (waitpid(child, &status, 0) != child || status != 0)
        abort();
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s13 processes|inline ITEMS\n");
        return 2;
    }
    uint64_t items = strtoull(argv[2], NULL, 10);
    if (strcmp(argv[1], "item") == 0) {
        handle_item(items);
        return 0;
    }
    int in_place = strcmp(argv[1], "inline") == 0;
    for (uint64_t n = 0; n < items; n++) {
        if (in_place)
            handle_item(n);
        else
            spawn_item(n);
    }
    return 0;
}
