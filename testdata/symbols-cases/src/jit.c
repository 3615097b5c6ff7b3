/* Generates code that calls generated code, and describes it. usage: jit map|dump CPU_MILLISECONDS
 *
 * map:  /tmp/perf-PID.map (tools/perf/Documentation/jit-interface.txt)
 * dump: ./jit-PID.dump (jitdump-specification.txt): code is replaced and moved while it runs */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static uint8_t *code;
static FILE *dump;
static uint64_t next_index;

/* push rbp; mov rbp,rsp; mov ecx,COUNT; dec ecx; jnz -4; [mov rax,CALLEE; call rax;] pop rbp; ret */
static size_t emit(uint8_t *at, uint32_t count, const uint8_t *callee) {
    uint8_t *p = at;
    memcpy(p, "\x55\x48\x89\xe5\xb9", 5), p += 5;
    memcpy(p, &count, 4), p += 4;
    memcpy(p, "\xff\xc9\x75\xfc", 4), p += 4;
    if (callee) {
        memcpy(p, "\x48\xb8", 2), p += 2;
        memcpy(p, &callee, 8), p += 8;
        memcpy(p, "\xff\xd0", 2), p += 2;
    }
    memcpy(p, "\x5d\xc3", 2), p += 2;
    return (size_t)(p - at);
}

static uint64_t now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static void run(const uint8_t *function, long ms) {
    uint64_t until = now(CLOCK_PROCESS_CPUTIME_ID) + (uint64_t)ms * 1000000ull;
    while (now(CLOCK_PROCESS_CPUTIME_ID) < until)
        ((void (*)(void))(uintptr_t)function)();
}

static void put(const void *data, size_t size) { fwrite(data, 1, size, dump); }
static void put32(uint32_t value) { put(&value, 4); }
static void put64(uint64_t value) { put(&value, 8); }

static void open_dump(void) {
    char name[64];
    snprintf(name, sizeof name, "jit-%d.dump", getpid());
    int fd = open(name, O_CREAT | O_TRUNC | O_RDWR, 0644);
    if (fd < 0 || !(dump = fdopen(fd, "w+")))
        exit(1);
    /* Tells perf, by a record of this mapping, that there is a dump. */
    mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    put32(0x4A695444), put32(1), put32(40), put32(62), put32(0), put32((uint32_t)getpid());
    put64(now(CLOCK_MONOTONIC)), put64(0);
}

static uint64_t load(const uint8_t *at, size_t size, const char *name) {
    uint64_t index = ++next_index;
    put32(0), put32((uint32_t)(16 + 8 + 32 + strlen(name) + 1 + size)), put64(now(CLOCK_MONOTONIC));
    put32((uint32_t)getpid()), put32((uint32_t)getpid());
    put64((uintptr_t)at), put64((uintptr_t)at), put64(size), put64(index);
    put(name, strlen(name) + 1), put(at, size);
    fflush(dump);
    return index;
}

static void moved(const uint8_t *from, const uint8_t *to, size_t size, uint64_t index) {
    put32(1), put32(16 + 8 + 40), put64(now(CLOCK_MONOTONIC));
    put32((uint32_t)getpid()), put32((uint32_t)getpid());
    put64((uintptr_t)to), put64((uintptr_t)from), put64((uintptr_t)to), put64(size), put64(index);
    fflush(dump);
}

static void with_map(long ms) {
    char name[64];
    snprintf(name, sizeof name, "/tmp/perf-%d.map", getpid());
    FILE *map = fopen(name, "w");
    if (!map)
        exit(1);
    uint8_t *leaf = code, *caller = code + 256, *other = code + 512;
    fprintf(map, "%lx %zx jit:leaf (hot)\n", (unsigned long)(uintptr_t)leaf, emit(leaf, 20000, NULL));
    fprintf(map, "%lx %zx jit:caller\n", (unsigned long)(uintptr_t)caller, emit(caller, 5000, leaf));
    fprintf(map, "%lx %zx jit:other\n", (unsigned long)(uintptr_t)other, emit(other, 30000, caller));
    fclose(map);
    run(other, ms);
}

static void with_dump(long ms) {
    open_dump();
    uint8_t *first = code, *second = code + 256;
    uint64_t alpha = load(first, emit(first, 20000, NULL), "alpha");
    run(first, ms / 4);
    size_t size = emit(second, 20000, NULL);
    moved(first, second, size, alpha);
    run(second, ms / 4);
    /* New code at the address where alpha was. */
    load(first, emit(first, 5000, second), "beta");
    run(first, ms / 4);
    load(first, emit(first, 20000, NULL), "gamma");
    run(first, ms / 4);
    put32(3), put32(16), put64(now(CLOCK_MONOTONIC));
    fclose(dump);
}

int main(int argc, char **argv) {
    long ms = argc > 2 ? atol(argv[2]) : 100;
    code = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        return 1;
    if (argc > 1 && strcmp(argv[1], "dump") == 0)
        with_dump(ms);
    else
        with_map(ms);
    return 0;
}
