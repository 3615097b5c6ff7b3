/* S15 network wait: a client and a server on the loopback interface. The server
 * thinks for a millisecond about each request and takes no CPU for that.
 *
 *   s15 single REQUESTS      send, wait for the answer, handle it: in request
 *   s15 pipelined REQUESTS   64 requests are under way; nobody waits for long
 *   s15 serve                the server; it runs beside the client
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PORT 47115
#define AHEAD 64

struct message {
    uint64_t number;
    char text[56];
};

static volatile uint64_t sink;

static int all(ssize_t (*move)(int, void *, size_t, int), int fd, struct message *m)
{
    for (size_t done = 0; done < sizeof *m;) {
        ssize_t n = move(fd, (char *)m + done, sizeof *m - done, 0);
        if (n <= 0)
            return -1;
        done += (size_t)n;
    }
    return 0;
}

static ssize_t put(int fd, void *from, size_t len, int flags) { return send(fd, from, len, flags); }
static ssize_t get(int fd, void *to, size_t len, int flags) { return recv(fd, to, len, flags); }

__attribute__((noinline)) static void handle_answer(const struct message *m)
{
    uint64_t h = m->number;
    for (int i = 0; i < 60000; i++)
        h = (h ^ (uint64_t)i) * 1099511628211ull;
    sink = h;
}

/* One request; the answer to the one that was sent `behind` requests ago. */
__attribute__((noinline)) static int request(int fd, uint64_t n, int receive)
{
    struct message m = {.number = n, .text = "what is known of this row"};
    if (all(put, fd, &m) != 0)
        return -1;
    if (!receive)
        return 0;
    if (all(get, fd, &m) != 0)
        return -1;
    handle_answer(&m);
    return 0;
}

static int client(int fd, uint64_t requests, int ahead)
{
    struct message m;
    uint64_t n = 0;
    for (; n < requests; n++)
        if (request(fd, n, n >= (uint64_t)ahead) != 0)
            return 1;
    for (uint64_t rest = requests < (uint64_t)ahead ? requests : (uint64_t)ahead; rest > 0; rest--) {
        if (all(get, fd, &m) != 0)
            return 1;
        handle_answer(&m);
    }
    return 0;
}

/* Answers whatever has come in, after one pause. */
static int serve(int listener)
{
    const struct timespec think = {0, 1000000};
    struct message m;
    prctl(PR_SET_NAME, "peer");
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        if (fd < 0)
            return 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        while (all(get, fd, &m) == 0) {
            nanosleep(&think, NULL);
            do
                if (all(put, fd, &m) != 0)
                    break;
            while (recv(fd, &m, sizeof m, MSG_DONTWAIT | MSG_PEEK) == sizeof m && all(get, fd, &m) == 0);
        }
        close(fd);
    }
}

int main(int argc, char **argv)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || argc < 2)
        return 2;
    if (strcmp(argv[1], "serve") == 0) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
        if (bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, 8) != 0)
            return 1;
        return serve(fd);
    }
    if (argc < 3) {
        fprintf(stderr, "usage: s15 single|pipelined REQUESTS, or s15 serve\n");
        return 2;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    if (connect(fd, (struct sockaddr *)&at, sizeof at) != 0) {
        perror("connect (is s15 serve running?)");
        return 1;
    }
    return client(fd, strtoull(argv[2], NULL, 10), strcmp(argv[1], "pipelined") == 0 ? AHEAD : 0);
}
