/* S4 fsync per record: 128 bytes, then fsync, in commit_record.
 *
 *   s4 each RECORDS       one fsync per record
 *   s4 batched RECORDS    one fsync per 100 records
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fd;

/* The work that a record costs anyway. */
__attribute__((noinline)) static void prepare_record(char *record, long n)
{
    uint64_t h = (uint64_t)n + 1;
    for (int pass = 0; pass < 400; pass++)
        for (int i = 0; i < 127; i++) {
            h = h * 6364136223846793005ull + 1442695040888963407ull;
            record[i] = (char)('a' + (h >> 60));
        }
    record[127] = '\n';
}

__attribute__((noinline)) static int commit_record(const char *record, long n, long batch)
{
    if (pwrite(fd, record, 128, (off_t)n * 128) != 128)
        return -1;
    if ((n + 1) % batch == 0)
        return fsync(fd);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s4 each|batched RECORDS\n");
        return 2;
    }
    long batch = strcmp(argv[1], "batched") == 0 ? 100 : 1;
    long records = atol(argv[2]);
    char record[128];
    fd = open("s4.out", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0) {
        perror("s4.out");
        return 1;
    }
    for (long n = 0; n < records; n++) {
        prepare_record(record, n);
        if (commit_record(record, n, batch) != 0) {
            perror("s4.out");
            return 1;
        }
    }
    return close(fd) != 0;
}
