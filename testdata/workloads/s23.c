/* S23 compress: pages of text go through zlib (linked statically).
 *
 *   s23 level-9 PAGES   deflate at level 9, in store_page
 *   s23 stored PAGES    the same, stored as they are
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define PAGE 16384

static const char *const words[16] = {
    "the ", "order ", "of ", "row ", "and ", "total ", "from ", "branch ", "is ", "paid ", "to ", "account ", "with ", "date ", "in ", "status ",
};
static unsigned char page[PAGE], packed[2 * PAGE];
static z_stream stream;

/* Text that has repetitions, but no page like another. */
__attribute__((noinline)) static void write_page(uint64_t n)
{
    uint64_t state = (n + 1) * 0x9E3779B97F4A7C15ull;
    size_t used = 0;
    while (used + 16 < PAGE) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        const char *word = words[state & 15];
        size_t len = strlen(word);
        memcpy(page + used, word, len);
        used += len;
        if ((state >> 8 & 7) == 0)
            page[used++] = (unsigned char)('0' + (state >> 12) % 10);
    }
    memset(page + used, '\n', PAGE - used);
}

__attribute__((noinline)) static uint64_t store_page(void)
{
    stream.next_in = page, stream.avail_in = sizeof page;
    stream.next_out = packed, stream.avail_out = sizeof packed;
    if (deflateReset(&stream) != Z_OK || deflate(&stream, Z_FINISH) != Z_STREAM_END)
        abort();
    return stream.total_out;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s23 level-9|stored PAGES\n");
        return 2;
    }
    if (deflateInit(&stream, strcmp(argv[1], "stored") == 0 ? 0 : 9) != Z_OK)
        return 1;
    uint64_t pages = strtoull(argv[2], NULL, 10), sum = 0;
    for (uint64_t n = 0; n < pages; n++) {
        write_page(n);
        sum += store_page();
    }
    printf("%llu\n", (unsigned long long)sum);
    return deflateEnd(&stream) != Z_OK;
}
