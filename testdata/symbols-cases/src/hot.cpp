// Templates, a lambda, a virtual call, functions of an unnamed namespace. usage: hot CPU_MILLISECONDS
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <vector>

namespace {
volatile uint64_t sink;

template <typename T> struct Matrix {
    std::vector<T> cells;
    size_t n;
    explicit Matrix(size_t n) : cells(n * n), n(n) { std::iota(cells.begin(), cells.end(), T(1)); }
    T &at(size_t row, size_t column) { return cells[row * n + column]; }
    __attribute__((noinline)) Matrix times(Matrix &other) {
        Matrix out(n);
        for (size_t row = 0; row < n; row++)
            for (size_t column = 0; column < n; column++) {
                T sum = 0;
                for (size_t k = 0; k < n; k++)
                    sum += at(row, k) * other.at(k, column);
                out.at(row, column) = sum;
            }
        return out;
    }
};

struct Shape {
    virtual ~Shape() = default;
    virtual uint64_t area(uint64_t x) const = 0;
};
struct Square : Shape {
    __attribute__((noinline)) uint64_t area(uint64_t x) const override {
        for (int i = 0; i < 200; i++)
            x = x * x + i;
        return x;
    }
};
} // namespace

namespace work {
template <typename Compare> __attribute__((noinline)) void order(std::vector<uint32_t> &values, Compare compare) {
    std::sort(values.begin(), values.end(), compare);
}

__attribute__((noinline)) void batch(uint32_t seed, const Shape &shape) {
    std::vector<uint32_t> values(2000);
    for (auto &value : values)
        value = seed = seed * 1664525u + 1013904223u;
    order(values, [](uint32_t a, uint32_t b) { return (a ^ 0x5555u) < (b ^ 0x5555u); });
    Matrix<double> m(24);
    sink += uint64_t(m.times(m).at(3, 4)) + values[7] + shape.area(seed);
}
} // namespace work

int main(int argc, char **argv) {
    long until = argc > 1 ? atol(argv[1]) : 100;
    Square square;
    for (uint32_t i = 0; clock() / (CLOCKS_PER_SEC / 1000) < until; i++)
        work::batch(i, square);
    return sink == 42;
}
