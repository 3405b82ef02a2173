/* The first process inside the sandbox: starts the command, waits for it, and ends everything with it.

   It is process 1 of its namespace, so all other processes end with it. It cannot be traced or signalled from inside,
   and it holds the only connection to the process outside. */

#define _GNU_SOURCE
#include "runner.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static struct ticket ticket;
static sigset_t signals_before;

static void say(enum kind kind, int value) {
    if (!send_message(inside_line, (struct message){.kind = kind, .value = value}, -1)) _exit(FAILED);
}

/* The proxy is outside; connections to it are made here. */
static void listen_for_proxy(void) {
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    place.sin_port = htons((uint16_t)number_of(&ticket, "proxy_port", 1, 65535));
    int handle = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (handle < 0 || bind(handle, (struct sockaddr *)&place, sizeof place) != 0 || listen(handle, 64) != 0)
        refuse("no socket for the proxy inside");
    struct message answer;
    if (!send_message(inside_line, (struct message){.kind = LISTENS}, handle)) _exit(FAILED);
    if (!receive_message(inside_line, &answer, NULL) || answer.kind != GO_ON) _exit(FAILED);
    close(handle);
}

/* Becomes the shell. Only an error comes back, through the pipe. */
_Noreturn static void become_command(int failed, bool terminal) {
    const char *shell = value_of(&ticket, "shell");
    char *const words[] = {(char *)shell, "-c", (char *)value_of(&ticket, "command"), NULL};
    setpgid(0, 0); /* a signal to one's own group stays inside */
    if (terminal) (void)tcsetpgrp(STDIN_FILENO, getpid());
    const char *wrong = set_limits(&ticket);
    if (wrong == NULL) wrong = restrict_files(&ticket);
    if (wrong == NULL) {
        sigprocmask(SIG_SETMASK, &signals_before, NULL);
        prctl(PR_SET_DUMPABLE, 1);
        execve(shell, words, environ);
        wrong = "the shell cannot be started inside";
    }
    (void)write_all(failed, wrong, strlen(wrong));
    _exit(FAILED);
}

/* Reap ended processes. True once the command ended, with its status. */
static bool reap(pid_t command, int *status) {
    int found;
    pid_t child;
    while ((child = waitpid(-1, &found, WNOHANG | WUNTRACED)) > 0) {
        if (child != command) continue;
        if (WIFSTOPPED(found)) {
            say(STOPPED, WSTOPSIG(found));
            continue;
        }
        *status = found;
        return true;
    }
    return false;
}

static void obey(pid_t command, struct message message, int *grace) {
    switch (message.kind) {
    case SIGNAL: kill(-command, message.value); break;
    case GO_ON:
        if (message.value != 0) (void)tcsetpgrp(STDIN_FILENO, command);
        kill(-command, SIGCONT);
        break;
    case END: /* at the time limit */
        kill(-command, SIGTERM);
        kill(-command, SIGCONT);
        *grace = message.value;
        break;
    default: break;
    }
}

static int wait_for(pid_t command, int signals) {
    int status = 0, grace = -1;
    for (;;) {
        struct pollfd ready[] = {{.fd = signals, .events = POLLIN}, {.fd = inside_line, .events = POLLIN}};
        int came = poll(ready, 2, grace);
        if (came == 0) return W_EXITCODE(0, SIGKILL);
        if (ready[0].revents != 0) {
            struct signalfd_siginfo info;
            (void)!read(signals, &info, sizeof info);
            if (reap(command, &status)) return status;
        }
        if (ready[1].revents != 0) {
            struct message message;
            if (!receive_message(inside_line, &message, NULL)) _exit(FAILED); /* nobody is outside any more */
            obey(command, message, &grace);
        }
    }
}

/* End all other processes. A signal to all of them also reaches one that is forking, and this process becomes the
   parent of all. */
static void end_others(void) {
    kill(-1, SIGKILL);
    while (waitpid(-1, NULL, __WALL) > 0 || errno == EINTR) {}
}

/* Check that the mounted paths are those that were scanned: none was replaced by a link in between. */
static void check_places(int handle) {
    struct stat status;
    if (fstat(handle, &status) != 0) refuse("it does not know what is mounted");
    size_t size = (size_t)status.st_size;
    char *text = size > 0 ? malloc(size) : NULL;
    if (size > 0 && (text == NULL || pread(handle, text, size, 0) != (ssize_t)size)) refuse("it does not know what is mounted");
    for (const char *place = text, *identity; place != NULL && place < text + size; place = identity + strlen(identity) + 1) {
        unsigned long long device, number;
        identity = place + strlen(place) + 1;
        struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
        int found = (int)syscall(SYS_openat2, AT_FDCWD, place, &how, sizeof how);
        if (found < 0 || fstat(found, &status) != 0 || sscanf(identity, "%llu %llu", &device, &number) != 2 ||
            status.st_dev != device || status.st_ino != number)
            refuse("`%.150s` changed while the sandbox was made", place);
        close(found);
    }
    free(text);
}

_Noreturn void inside(int line, int ticket_handle, int places, bool terminal) {
    inside_line = line;
    if (getpid() != 1 || line <= STDERR_FILENO || fcntl(line, F_SETFD, FD_CLOEXEC) != 0) refuse("this is no sandbox");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (prctl(PR_SET_DUMPABLE, 0) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) refuse("the process cannot be closed");
    const char *wrong = read_ticket(&ticket, ticket_handle);
    if (wrong != NULL) refuse("its ticket cannot be used inside: %s", wrong);
    check_places(places);
    if (line > 3) syscall(SYS_close_range, 3, line - 1, 0);
    syscall(SYS_close_range, line + 1, ~0U, 0);
    if (value_of(&ticket, "proxy")[0] != '\0') listen_for_proxy();
    struct message answer;
    say(READY, 0);
    if (!receive_message(inside_line, &answer, NULL) || answer.kind != GO_ON) _exit(FAILED);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTTOU);
    sigprocmask(SIG_BLOCK, &set, &signals_before);
    sigdelset(&set, SIGTTOU);
    int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), failed[2];
    if (signals < 0 || pipe2(failed, O_CLOEXEC) != 0) refuse("the command cannot be watched");
    if ((wrong = filter_calls()) != NULL) refuse("%s", wrong);
    pid_t command = fork();
    if (command == 0) become_command(failed[1], terminal);
    if (command < 0) refuse("the command cannot be started");
    close(failed[1]);
    char text[200];
    ssize_t size = read(failed[0], text, sizeof text - 1);
    if (size > 0) text[size] = '\0', refuse("%s", text);
    close(failed[0]);
    say(STARTED, 0);
    int status = wait_for(command, signals);
    end_others();
    say(ENDED, status);
    _exit(0);
}
