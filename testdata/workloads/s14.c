/* S14 metadata storm: each name is looked for along a search path of 8 folders,
 * of which the last one has it.
 *
 *   s14 probing LOOKUPS   stat in each folder, each time, in probe_path
 *   s14 cached LOOKUPS    what was found is remembered
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NAMES 16

static const char *const folders[] = {
    "local/lib", "local/share", "opt/lib", "opt/share", "usr/lib", "usr/share", "etc/parts", ".",
};
static long found[NAMES];
static volatile uint64_t sink;

/* The size of the file, from the first folder that has it. */
__attribute__((noinline)) static long probe_path(const char *name)
{
    char path[128];
    struct stat about;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t len = strlen(folders[i]);
        memcpy(path, folders[i], len);
        path[len] = '/';
        strcpy(path + len + 1, name);
        if (stat(path, &about) == 0)
            return (long)about.st_size;
    }
    return -1;
}

__attribute__((noinline)) static uint64_t use_part(uint64_t h)
{
    for (int i = 0; i < 1000; i++)
        h = (h ^ (uint64_t)i) * 1099511628211ull;
    return h;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s14 probing|cached LOOKUPS\n");
        return 2;
    }
    int cached = strcmp(argv[1], "cached") == 0;
    uint64_t lookups = strtoull(argv[2], NULL, 10), h = 0;
    char names[NAMES][32];
    for (int i = 0; i < NAMES; i++) {
        snprintf(names[i], sizeof names[i], "part-%02d.out", i);
        FILE *file = fopen(names[i], "w");
        if (!file || fputs("part\n", file) < 0 || fclose(file) != 0)
            return 1;
    }
    for (uint64_t n = 0; n < lookups; n++) {
        long *known = &found[n % NAMES];
        if (!cached || *known == 0)
            *known = probe_path(names[n % NAMES]);
        h = use_part(h + (uint64_t)*known);
    }
    sink = h;
    return 0;
}
