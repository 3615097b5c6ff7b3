/* S21 copies: a document of 1 MiB is copied whole to change one byte of it. The
 * heap keeps what is freed, and gives it back after 512 changes.
 *
 *   s21 copied CHANGES     a copy per change, in edit_document
 *   s21 in-place CHANGES   the document itself is changed
 */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE (1u << 20)
#define BATCH 512

static int in_place;

/* The document with one more change in it. */
__attribute__((noinline)) static char *edit_document(char *document, uint64_t change)
{
    char *edited = document;
    if (!in_place) {
        edited = malloc(SIZE);
        if (!edited)
            abort();
        memcpy(edited, document, SIZE);
        free(document);
    }
    edited[(change * 2654435761u) % SIZE] = (char)change;
    return edited;
}

/* Looks at the part around the change. */
__attribute__((noinline)) static uint64_t check_document(const char *document, uint64_t change)
{
    uint64_t h = 14695981039346656037ull;
    size_t at = (change * 2654435761u) % SIZE & ~(size_t)1023;
    for (size_t i = at; i < at + 1024; i++)
        h = (h ^ (unsigned char)document[i]) * 1099511628211ull;
    return h;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s21 copied|in-place CHANGES\n");
        return 2;
    }
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    in_place = strcmp(argv[1], "in-place") == 0;
    uint64_t changes = strtoull(argv[2], NULL, 10), sum = 0;
    char *document = calloc(1, SIZE);
    if (!document)
        return 1;
    for (uint64_t n = 0; n < changes; n++) {
        document = edit_document(document, n);
        sum += check_document(document, n);
        if (n % BATCH == BATCH - 1 && !in_place)
            malloc_trim(0);
    }
    printf("%llu\n", (unsigned long long)sum);
    free(document);
    return 0;
}
