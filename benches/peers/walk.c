// Builds, prints, parses, sorts and folds random expression trees: recursion with several call sites per function,
// inlined helpers and a libc callback, so that stacks are deep and most of them differ. walk SECONDS
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct node { int op; long value; struct node *left, *right; };

static unsigned long state = 1;
static inline unsigned draw(unsigned n) {
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    return (unsigned)(state >> 33) % n;
}

static struct node *leaf(long value) {
    struct node *n = calloc(1, sizeof *n);
    n->value = value;
    return n;
}

static struct node *build(int depth) {
    if (depth == 0 || draw(9) == 0) return leaf(draw(1000));
    struct node *n = leaf(0);
    n->op = 1 + (int)draw(4);
    switch (n->op) {
    case 1: n->left = build(depth - 1); n->right = build(depth - 2 > 0 ? depth - 2 : 0); break;
    case 2: n->right = build(depth - 1); n->left = build(depth - 1); break;
    case 3: n->left = build(depth - 1); n->right = leaf(draw(9)); break;
    default: n->left = leaf(draw(9)); n->right = build(depth - 1); break;
    }
    return n;
}

static int by_value(const void *a, const void *b) {
    long x = *(const long *)a, y = *(const long *)b;
    return x < y ? -1 : x > y;
}

static inline long mix(long a, long b) {
    long few[8] = {a, b, a ^ b, a + b, a - b, b - a, a & b, a | b};
    if (((a ^ b) & 7) == 0) qsort(few, 8, sizeof *few, by_value);
    return few[3] * 31 + few[5];
}

static long fold(const struct node *n) {
    switch (n->op) {
    case 0: return n->value;
    case 1: return mix(fold(n->left), fold(n->right));
    case 2: { long a = fold(n->right); return a + fold(n->left); }
    case 3: return fold(n->left) * 3 + n->right->value;
    default: return mix(n->left->value, fold(n->right));
    }
}

static char *print(const struct node *n, char *to) {
    if (n->op == 0) return to + sprintf(to, "%ld", n->value);
    *to++ = '(';
    to = print(n->left, to);
    *to++ = " +*-/"[n->op];
    to = print(n->right, to);
    *to++ = ')';
    return to;
}

static struct node *parse(const char **at) {
    if (**at != '(') return leaf(strtol(*at, (char **)at, 10));
    struct node *n = leaf(0);
    ++*at;
    n->left = parse(at);
    n->op = (int)(strchr(" +*-/", **at) - " +*-/");
    ++*at;
    n->right = parse(at);
    ++*at;
    return n;
}

static void drop(struct node *n) {
    if (n->left) drop(n->left);
    if (n->right) drop(n->right);
    free(n);
}

int main(int argc, char **argv) {
    time_t end = time(NULL) + (argc > 1 ? atol(argv[1]) : 1);
    static char text[1 << 22];
    long sum = 0;
    while (time(NULL) < end) {
        struct node *tree = build(24);
        *print(tree, text) = 0;
        const char *at = text;
        struct node *again = parse(&at);
        sum += fold(tree) ^ fold(again);
        drop(tree);
        drop(again);
    }
    printf("%ld\n", sum);
}
