/* S1 unbuffered small writes: one write(2) of about 12 bytes per record.
 *
 *   s1 unbuffered RECORDS    one system call per record, in emit_record
 *   s1 buffered RECORDS      the same records through a buffer of 8 KiB
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fd;
static int buffered;
static char buffer[8192];
static size_t used;

/* Digits by hand: formatting must stay a small part of the work. */
static inline size_t put_number(char *to, unsigned long n)
{
    char digits[20];
    size_t k = 0, i = 0;
    do
        digits[k++] = (char)('0' + n % 10);
    while (n /= 10);
    while (k)
        to[i++] = digits[--k];
    return i;
}

__attribute__((noinline)) static void emit_record(unsigned long n)
{
    char line[32] = "rec ";
    size_t len = 4 + put_number(line + 4, n);
    line[len++] = '\n';
    if (!buffered) {
        if (write(fd, line, len) != (ssize_t)len)
            _exit(1);
        return;
    }
    if (used + len > sizeof buffer) {
        if (write(fd, buffer, used) != (ssize_t)used)
            _exit(1);
        used = 0;
    }
    for (size_t i = 0; i < len; i++)
        buffer[used + i] = line[i];
    used += len;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s1 unbuffered|buffered RECORDS\n");
        return 2;
    }
    buffered = strcmp(argv[1], "buffered") == 0;
    unsigned long records = strtoul(argv[2], NULL, 10);
    fd = open("s1.out", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0) {
        perror("s1.out");
        return 1;
    }
    for (unsigned long n = 0; n < records; n++)
        emit_record(n);
    if (used && write(fd, buffer, used) != (ssize_t)used)
        return 1;
    return close(fd) != 0;
}
