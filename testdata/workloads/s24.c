/* S24 page cache: pages of a file of 64 MiB are read in no order, and the page
 * cache does not have them.
 *
 *   s24 mapped READS   through a mapping: a major fault per page, in read_page
 *   s24 cold READS     with pread
 *   s24 warm READS     with pread; the whole file is in the page cache
 *
 * The cache is dropped after each pass over the file.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE (64u << 20)
#define PAGE 4096u
#define PAGES (SIZE / PAGE)

static int fd;
static unsigned char *mapping;
static volatile uint64_t sink;

__attribute__((noinline)) static uint64_t read_page(uint32_t page)
{
    unsigned char buffer[PAGE];
    const unsigned char *p = buffer;
    if (mapping)
        p = mapping + (size_t)page * PAGE;
    else if (pread(fd, buffer, PAGE, (off_t)page * PAGE) != (ssize_t)PAGE)
        abort();
    return p[0] + (uint64_t)p[PAGE - 1];
}

__attribute__((noinline)) static uint64_t use_page(uint64_t h)
{
    for (int i = 0; i < 10000; i++)
        h = (h ^ (uint64_t)i) * 1099511628211ull;
    return h;
}

static void make_file(void)
{
    unsigned char buffer[PAGE];
    for (uint32_t page = 0; page < PAGES; page++) {
        memset(buffer, (int)page | 1, sizeof buffer);
        if (write(fd, buffer, sizeof buffer) != (ssize_t)sizeof buffer)
            abort();
    }
    if (fsync(fd) != 0)
        abort();
}

/* Lets go of the file's pages; reads go to the disk again. */
static void drop_cache(int mapped)
{
    if (mapping)
        munmap(mapping, SIZE);
    mapping = NULL;
    if (posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM) != 0)
        abort();
    if (mapped) {
        mapping = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);
        if (mapping == MAP_FAILED || madvise(mapping, SIZE, MADV_RANDOM) != 0)
            abort();
    }
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s24 mapped|cold|warm READS\n");
        return 2;
    }
    int mapped = strcmp(argv[1], "mapped") == 0, warm = strcmp(argv[1], "warm") == 0;
    uint32_t reads = (uint32_t)strtoul(argv[2], NULL, 10);
    fd = open("s24.dat", O_RDWR | O_CREAT, 0644);
    if (fd < 0) {
        perror("s24.dat");
        return 1;
    }
    if (lseek(fd, 0, SEEK_END) != (off_t)SIZE)
        make_file();
    if (!warm)
        drop_cache(mapped);
    uint64_t h = 0;
    for (uint32_t n = 0; n < reads; n++) {
        if (!warm && n % PAGES == PAGES - 1)
            drop_cache(mapped);
        h = use_page(h + read_page(n * 2654435761u % PAGES));
    }
    sink = h;
    return 0;
}
