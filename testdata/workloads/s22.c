/* S22 serialize: each row is written as JSON and read back.
 *
 *   s22 json ROWS     json_encode and json_decode
 *   s22 binary ROWS   the same rows, copied as they are
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS 12

struct row {
    uint64_t values[FIELDS];
};

static const char *const names[FIELDS] = {
    "id", "created", "updated", "owner", "amount", "currency", "branch", "status", "route", "weight", "score", "checksum",
};

__attribute__((noinline)) static char *json_put_number(char *to, uint64_t n)
{
    char digits[20];
    int k = 0;
    do
        digits[k++] = (char)('0' + n % 10);
    while (n /= 10);
    while (k)
        *to++ = digits[--k];
    return to;
}

__attribute__((noinline)) static size_t json_encode(char *to, const struct row *row)
{
    char *p = to;
    *p++ = '{';
    for (int f = 0; f < FIELDS; f++) {
        *p++ = '"';
        for (const char *s = names[f]; *s; s++)
            *p++ = *s;
        *p++ = '"';
        *p++ = ':';
        p = json_put_number(p, row->values[f]);
        *p++ = f + 1 < FIELDS ? ',' : '}';
    }
    *p = 0;
    return (size_t)(p - to);
}

/* Which field of the row this is. */
__attribute__((noinline)) static int json_find_name(const char *name, size_t len)
{
    for (int f = 0; f < FIELDS; f++)
        if (strlen(names[f]) == len && memcmp(names[f], name, len) == 0)
            return f;
    return -1;
}

__attribute__((noinline)) static struct row *json_decode(const char *p)
{
    struct row *row = calloc(1, sizeof *row);
    if (!row)
        abort();
    while (*p && *p != '}') {
        const char *name = strchr(p, '"') + 1;
        size_t len = strcspn(name, "\"");
        int f = json_find_name(name, len);
        p = name + len + 2;
        uint64_t n = 0;
        while (*p >= '0' && *p <= '9')
            n = n * 10 + (uint64_t)(*p++ - '0');
        if (f >= 0)
            row->values[f] = n;
    }
    return row;
}

/* What the program is there for. */
__attribute__((noinline)) static uint64_t add_up(const struct row *row, uint64_t h)
{
    for (int f = 0; f < FIELDS; f++)
        h = (h ^ row->values[f]) * 1099511628211ull;
    return h;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s22 json|binary ROWS\n");
        return 2;
    }
    int binary = strcmp(argv[1], "binary") == 0;
    uint64_t rows = strtoull(argv[2], NULL, 10), h = 1;
    char text[512];
    for (uint64_t n = 0; n < rows; n++) {
        struct row row, copy, *back = &copy;
        for (int f = 0; f < FIELDS; f++)
            row.values[f] = (n + 1) * (uint64_t)(f * 7919 + 1);
        if (binary) {
            memcpy(text, &row, sizeof row);
            memcpy(back, text, sizeof *back);
        } else {
            json_encode(text, &row);
            back = json_decode(text);
        }
        h = add_up(back, h);
        if (!binary)
            free(back);
    }
    printf("%llu\n", (unsigned long long)h);
    return 0;
}
