/* S19 start-up: short programs whose time goes into the dynamic linker.
 *
 *   s19 many RUNS   RUNS times a program that is linked with 120 libraries
 *   s19 noop RUNS   the same program, which ends at once
 *   s19 one RUNS    RUNS times the same program without those libraries
 *
 * This file is the program that starts the others (it is built three times, see
 * record.sh): -DLIBRARY makes the library, of which there are 120 copies,
 * -DTOOL the short program.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#if defined LIBRARY

/* Symbols of the last library in the search order, each of which is looked for in all the others first. */
#define S(f) (void *)(f)
void *const s19_table[] = {
    S(abs),     S(accept),   S(access),   S(atoi),    S(atol),     S(bind),     S(bsearch), S(calloc),  S(chdir),    S(chmod),
    S(clock),   S(close),    S(connect),  S(creat),   S(ctime),    S(difftime), S(div),     S(dup),     S(dup2),     S(execv),
    S(execve),  S(exit),     S(fclose),   S(fcntl),   S(feof),     S(ferror),   S(fflush),  S(fgetc),   S(fgetpos),  S(fgets),
    S(fileno),  S(fopen),    S(fork),     S(fprintf), S(fputc),    S(fputs),    S(fread),   S(free),    S(freopen),  S(fseek),
    S(fsync),   S(ftell),    S(fwrite),   S(getc),    S(getcwd),   S(getenv),   S(getpid),  S(getppid), S(getuid),   S(gmtime),
    S(isalnum), S(isalpha),  S(iscntrl),  S(isdigit), S(isgraph),  S(islower),  S(isprint), S(ispunct), S(isspace),  S(isupper),
    S(labs),    S(ldiv),     S(link),     S(listen),  S(lseek),    S(malloc),   S(mblen),   S(mbtowc),  S(memchr),   S(memcmp),
    S(memcpy),  S(memmove),  S(memset),   S(mkdir),   S(mktime),   S(open),     S(pause),   S(perror),  S(pipe),     S(printf),
    S(putc),    S(puts),     S(qsort),    S(raise),   S(rand),     S(read),     S(realloc), S(recv),    S(remove),   S(rename),
    S(rewind),  S(rmdir),    S(scanf),    S(send),    S(setbuf),   S(setsid),   S(setvbuf), S(sleep),   S(snprintf), S(socket),
    S(sprintf), S(srand),    S(sscanf),   S(strcat),  S(strchr),   S(strcmp),   S(strcoll), S(strcpy),  S(strcspn),  S(strerror),
    S(strftime), S(strlen),  S(strncat),  S(strncmp), S(strncpy),  S(strpbrk),  S(strrchr), S(strspn),  S(strstr),   S(strtod),
    S(strtok),  S(strtol),   S(strtoul),  S(strxfrm), S(system),   S(time),     S(tmpfile), S(tolower), S(toupper),  S(ungetc),
    S(unlink),  S(usleep),   S(vfprintf), S(vprintf), S(vsprintf), S(wcscpy),   S(wcslen),  S(wctomb),  S(write),    S(wcscmp),
};

#elif defined TOOL

__attribute__((noinline)) static uint64_t handle_item(void)
{
    uint64_t h = 14695981039346656037ull;
    for (int i = 0; i < 2000000; i++)
        h = (h ^ (uint64_t)i) * 1099511628211ull;
    return h;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "noop") == 0)
        return 0;
    printf("%llu\n", (unsigned long long)handle_item());
    return 0;
}

#else

__attribute__((noinline)) static void start_tool(const char *program, char *variant)
{
    char *argv[] = {"s19tool", variant, NULL}, *environment[] = {NULL};
    pid_t child;
    int status;
    if (posix_spawn(&child, program, NULL, NULL, argv, environment) != 0)
        abort();
    if (waitpid(child, &status, 0) != child || status != 0)
        abort();
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: s19 many|noop|one RUNS\n");
        return 2;
    }
    char program[4096];
    ssize_t len = readlink("/proc/self/exe", program, sizeof program - 8);
    if (len < 0)
        return 1;
    strcpy(program + len, strcmp(argv[1], "one") == 0 ? "one" : "many");
    for (long n = atol(argv[2]); n > 0; n--)
        start_tool(program, argv[1]);
    return 0;
}

#endif
