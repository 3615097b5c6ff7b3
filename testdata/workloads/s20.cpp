// S20 exceptions: half of the rows cannot be parsed, and each of them throws
// through five frames.
//
//   s20 throwing ROWS      parse_row throws, handle_row catches
//   s20 error-codes ROWS   the same rows; the failure is returned
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct bad_row {
    std::uint64_t row;
};

// What a row costs anyway.
[[gnu::noinline]] std::uint64_t read_row(std::uint64_t row)
{
    for (int i = 0; i < 200; i++)
        row = (row ^ static_cast<std::uint64_t>(i)) * 1099511628211ull;
    return row;
}

[[gnu::noinline]] bool parse_row(std::uint64_t row, int depth, bool codes, std::uint64_t &value)
{
    if (depth > 0) {
        bool good = parse_row(row, depth - 1, codes, value);
        value += static_cast<std::uint64_t>(depth);
        return good;
    }
    value = read_row(row);
    if (row % 2 == 0)
        return true;
    if (!codes)
        throw bad_row{row};
    return false;
}

[[gnu::noinline]] std::uint64_t handle_row(std::uint64_t row, bool codes)
{
    std::uint64_t value = 0;
    try {
        return parse_row(row, 4, codes, value) ? value : row;
    } catch (const bad_row &bad) {
        return bad.row;
    }
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 3) {
        std::fprintf(stderr, "usage: s20 throwing|error-codes ROWS\n");
        return 2;
    }
    bool codes = std::strcmp(argv[1], "error-codes") == 0;
    std::uint64_t rows = std::strtoull(argv[2], nullptr, 10), sum = 0;
    for (std::uint64_t n = 0; n < rows; n++)
        sum += handle_row(n, codes);
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
    return 0;
}
