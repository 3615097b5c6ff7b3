/* S0 clean: many small functions of equal weight, buffered output, steady
 * memory, one thread, no sleeps, few system calls. Nothing here is a problem.
 *
 *   s0 clean ROUNDS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CELLS 512

static uint64_t cells[CELLS];

/* One stage: the same amount of work under another name, with other constants
 * so that the compiler cannot fold two of them into one. */
#define STAGE(name, mul, add, rot)                                            \
    __attribute__((noinline)) uint64_t name(uint64_t h)                       \
    {                                                                         \
        for (int i = 0; i < CELLS; i++) {                                     \
            h = (h ^ cells[i]) * (mul);                                       \
            h = ((h << (rot)) | (h >> (64 - (rot)))) + (add);                 \
            cells[i] = h;                                                     \
        }                                                                     \
        return h;                                                             \
    }

STAGE(read_header, 0x9E3779B97F4A7C15ull, 101, 7)
STAGE(check_magic, 0xBF58476D1CE4E5B9ull, 103, 11)
STAGE(split_fields, 0x94D049BB133111EBull, 107, 13)
STAGE(parse_number, 0xD6E8FEB86659FD93ull, 109, 17)
STAGE(parse_date, 0xA0761D6478BD642Full, 113, 19)
STAGE(fold_case, 0xE7037ED1A0B428DBull, 127, 23)
STAGE(trim_blanks, 0x8EBC6AF09C88C6E3ull, 131, 29)
STAGE(lookup_code, 0x589965CC75374CC3ull, 137, 31)
STAGE(apply_rate, 0x1D8E4E27C47D124Full, 139, 37)
STAGE(round_cents, 0xEB44ACCAB455D165ull, 149, 41)
STAGE(add_totals, 0x9C6E6877736C46E3ull, 151, 43)
STAGE(check_limits, 0xCA9B0A7F4B1D7E59ull, 157, 47)
STAGE(join_names, 0xB5AD4ECEDA1CE2A9ull, 163, 9)
STAGE(pick_route, 0xC2B2AE3D27D4EB4Full, 167, 15)
STAGE(score_match, 0x165667B19E3779F9ull, 173, 21)
STAGE(merge_rows, 0x27D4EB2F165667C5ull, 179, 25)
STAGE(sort_keys, 0xFF51AFD7ED558CCDull, 181, 27)
STAGE(count_words, 0xC4CEB9FE1A85EC53ull, 191, 33)
STAGE(build_index, 0x2545F4914F6CDD1Dull, 193, 35)
STAGE(scan_index, 0xDA942042E4DD58B5ull, 197, 39)
STAGE(pack_bits, 0xAEF17502108EF2D9ull, 199, 45)
STAGE(unpack_bits, 0xD1342543DE82EF95ull, 211, 49)
STAGE(encode_row, 0xF1357AEA2E62A9C5ull, 223, 51)
STAGE(update_crc, 0x9FB21C651E98DF25ull, 227, 53)
STAGE(flush_stats, 0x8CB92BA72F3D8DD7ull, 229, 55)
STAGE(close_batch, 0xAAF66E2F5C2A8C6Bull, 233, 57)

typedef uint64_t (*stage_fn)(uint64_t);
static const stage_fn stages[] = {
    read_header, check_magic, split_fields, parse_number, parse_date,
    fold_case,   trim_blanks, lookup_code,  apply_rate,   round_cents,
    add_totals,  check_limits, join_names,  pick_route,   score_match,
    merge_rows,  sort_keys,   count_words,  build_index,  scan_index,
    pack_bits,   unpack_bits, encode_row,   update_crc,   flush_stats,
    close_batch,
};

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s0 clean ROUNDS\n");
        return 2;
    }
    long rounds = atol(argv[2]);
    FILE *out = fopen("s0.out", "w");
    if (!out) {
        perror("s0.out");
        return 1;
    }
    uint64_t h = 1;
    for (long r = 0; r < rounds; r++) {
        for (unsigned s = 0; s < sizeof stages / sizeof *stages; s++)
            h = stages[s](h);
        if (r % 100 == 0)
            fprintf(out, "round %ld %016llx\n", r, (unsigned long long)h);
    }
    fprintf(out, "done %016llx\n", (unsigned long long)h);
    return fclose(out) != 0;
}
