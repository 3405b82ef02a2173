/* Runs one command in a sandbox, once: `assent-contain ID`.

   ID names a ticket in Assent's folder, which contain/ticket.py wrote for one judged command: its access, and what
   runs. The ticket is claimed before it is read, so that it is valid for one run. The sandbox is bubblewrap with the
   words of the ticket; the first process inside is this program again (inside.c), which closes what bubblewrap leaves
   open (restrict.c). Before and after, the workspace is scanned for protected names (watch.c). Then a receipt is
   written.

   INVARIANT: the command runs inside or not at all. If a step before it fails, the status is 126, and one sentence on
   standard error says why.

   Linux, C11, no libraries. tests/contain/ runs it. */

#define _GNU_SOURCE
#include "runner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    GRACE = 2000,      /* milliseconds between the request to end, at the time limit, and the end */
    PATIENCE = 5000,   /* milliseconds for what is inside to end after that */
    START = 30 * 1000, /* milliseconds until the command runs */
};

/* Signals passed on to the command. SIGKILL ends everything by itself: bubblewrap dies with this process. */
static const int PASSED[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP, SIGCONT};

static struct ticket ticket;
static int folder = -1;                /* STATE/contain */
static char id[ID_LENGTH + 1];         /* of the ticket that was claimed; empty before */
static sigset_t signals_before;
static void (*broken_pipe_before)(int);
static char why[sizeof((struct message *)NULL)->text] = "the sandbox did not start";
int inside_line = -1;
pid_t sender;

static struct {
    bool started, timed_out, never; /* never: the command was not started, and will not be */
    bool released;                  /* the first process inside was told to start it */
    int status, signal;
    int64_t from, until; /* milliseconds */
    struct bytes found;  /* fields that others add: quarantined paths, refused hosts */
} run;

static void dismiss_keeper(void);

static int64_t now(void) { /* milliseconds */
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* ---------------------------------------------------------------- bytes, fields, messages */

void add(struct bytes *into, const char *data, size_t size) {
    if (into->size + size > into->room) {
        size_t room = into->room == 0 ? 4096 : into->room;
        while (room < into->size + size) room *= 2;
        char *more = realloc(into->data, room);
        if (more == NULL) refuse("there is no memory");
        into->data = more, into->room = room;
    }
    memcpy(into->data + into->size, data, size);
    into->size += size;
}

void add_field(struct bytes *into, const char *text) { add(into, text, strlen(text) + 1); }

static void add_number(struct bytes *into, const char *key, long long number) {
    char text[32];
    snprintf(text, sizeof text, "%lld", number);
    add_field(into, key);
    add_field(into, text);
}

bool write_all(int handle, const char *data, size_t size) {
    while (size > 0) {
        ssize_t done = write(handle, data, size);
        if (done > 0) data += done, size -= (size_t)done;
        else if (done == 0 || errno != EINTR) return false;
    }
    return true;
}

bool send_message(int line, struct message message, int handle) {
    struct iovec part = {.iov_base = &message, .iov_len = sizeof message};
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control = {{0}};
    struct msghdr head = {.msg_iov = &part, .msg_iovlen = 1};
    if (handle >= 0) {
        head.msg_control = control.room, head.msg_controllen = sizeof control.room;
        struct cmsghdr *first = CMSG_FIRSTHDR(&head);
        first->cmsg_level = SOL_SOCKET, first->cmsg_type = SCM_RIGHTS, first->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(first), &handle, sizeof handle);
    }
    ssize_t done;
    do done = sendmsg(line, &head, MSG_NOSIGNAL);
    while (done < 0 && errno == EINTR);
    return done == (ssize_t)sizeof message;
}

/* False at the end of the line. */
bool receive_message(int line, struct message *into, int *handle) {
    struct iovec part = {.iov_base = into, .iov_len = sizeof *into};
    union {
        char room[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr aligned;
    } control;
    struct ucred from;
    struct msghdr head = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
    ssize_t done;
    do done = recvmsg(line, &head, MSG_CMSG_CLOEXEC);
    while (done < 0 && errno == EINTR);
    if (done != (ssize_t)sizeof *into) return false;
    for (struct cmsghdr *each = CMSG_FIRSTHDR(&head); each != NULL; each = CMSG_NXTHDR(&head, each)) {
        if (each->cmsg_level == SOL_SOCKET && each->cmsg_type == SCM_CREDENTIALS)
            memcpy(&from, CMSG_DATA(each), sizeof from), sender = from.pid;
        if (each->cmsg_level == SOL_SOCKET && each->cmsg_type == SCM_RIGHTS && handle != NULL)
            memcpy(handle, CMSG_DATA(each), sizeof *handle);
    }
    return true;
}

/* ---------------------------------------------------------------- the receipt, and the ways out */

/* Written to another name and renamed: a reader sees all of it, or none. */
static bool write_receipt(const char *sentence) {
    struct bytes text = {0};
    if (id[0] == '\0' || folder < 0) return false;
    add_field(&text, "digest"), add_field(&text, value_of(&ticket, "digest"));
    add_number(&text, "started", run.started);
    add_number(&text, "status", run.status);
    add_number(&text, "signal", run.signal);
    add_number(&text, "milliseconds", run.until - run.from);
    add_number(&text, "timed_out", run.timed_out);
    add_field(&text, "why"), add_field(&text, sentence);
    if (run.found.size > 0) add(&text, run.found.data, run.found.size);
    add_field(&text, "end"), add_field(&text, "");
    char beside[64], place[64];
    snprintf(beside, sizeof beside, "receipts/%s.new", id);
    snprintf(place, sizeof place, "receipts/%s", id);
    int handle = openat(folder, beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool whole = handle >= 0 && write_all(handle, text.data, text.size);
    if (handle >= 0) close(handle);
    return whole && renameat(folder, beside, folder, place) == 0;
}

_Noreturn void refuse(const char *reason, ...) {
    char text[1024], line[1100];
    va_list words;
    va_start(words, reason);
    vsnprintf(text, sizeof text, reason, words);
    va_end(words);
    if (inside_line >= 0) {
        struct message message = {.kind = NOT_STARTED};
        snprintf(message.text, sizeof message.text, "%.200s", text);
        (void)send_message(inside_line, message, -1);
        _exit(FAILED);
    }
    run.status = FAILED;
    if (run.never) dismiss_keeper();
    if (run.never || !run.released) add_field(&run.found, "complete"), add_field(&run.found, "1"); /* it changed nothing */
    (void)write_receipt(text);
    int size = snprintf(line, sizeof line, "assent: the command was not run: %s\n", text);
    (void)write_all(STDERR_FILENO, line, (size_t)size);
    _exit(FAILED);
}

/* ---------------------------------------------------------------- the ticket */

const char *value_of(const struct ticket *from, const char *key) {
    for (size_t at = 0; at < from->count; at++)
        if (strcmp(from->keys[at], key) == 0) return from->values[at];
    return "";
}

long number_of(const struct ticket *from, const char *key, long least, long most) {
    char *end;
    const char *text = value_of(from, key);
    errno = 0;
    long number = strtol(text, &end, 10);
    if (text[0] == '\0' || *end != '\0' || errno != 0 || number < least || number > most)
        refuse("its ticket has no right `%s`", key);
    return number;
}

const char *read_ticket(struct ticket *into, int handle) {
    struct stat status;
    if (fstat(handle, &status) != 0 || status.st_size <= 0 || status.st_size > MOST_TICKET) return "its size is wrong";
    size_t size = (size_t)status.st_size, done = 0;
    into->data = malloc(size + 1);
    if (into->data == NULL) return "there is no memory for it";
    while (done < size) {
        ssize_t more = pread(handle, into->data + done, size - done, (off_t)done);
        if (more < 0 && errno == EINTR) continue;
        if (more <= 0) return "it cannot be read";
        done += (size_t)more;
    }
    size_t ends = 0;
    for (size_t at = 0; at < size; at++) ends += into->data[at] == '\0';
    if (into->data[size - 1] != '\0' || ends % 2 != 0) return "it is not whole";
    into->count = ends / 2;
    into->keys = calloc(into->count, sizeof *into->keys);
    into->values = calloc(into->count, sizeof *into->values);
    if (into->keys == NULL || into->values == NULL) return "there is no memory for it";
    const char *at = into->data;
    for (size_t each = 0; each < into->count; each++) {
        into->keys[each] = at, at += strlen(at) + 1;
        into->values[each] = at, at += strlen(at) + 1;
    }
    if (strcmp(into->keys[0], "assent-contain") != 0 || strcmp(into->values[0], "1") != 0) return "its form is not known";
    return strcmp(into->keys[into->count - 1], "end") == 0 ? NULL : "it is not whole";
}

/* STATE/contain of the STATE/bin that this program is in, which must be its user's alone. */
static void open_folder(void) {
    char path[PATH_MAX];
    static const char *const PARTS[] = {"tickets", "claimed", "running", "receipts", "quarantine"};
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 16);
    if (size <= 0 || size >= (ssize_t)sizeof path - 16) refuse("it does not know where it is");
    path[size] = '\0';
    for (int up = 0; up < 2; up++) {
        char *last = strrchr(path, '/');
        if (last == NULL || last == path) refuse("it is not in Assent's folder");
        *last = '\0';
    }
    strcat(path, "/contain");
    folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) refuse("there are no tickets in Assent's folder");
    for (size_t at = 0; at <= COUNT(PARTS); at++) {
        struct stat status;
        int found = at == COUNT(PARTS) ? fstat(folder, &status) : fstatat(folder, PARTS[at], &status, AT_SYMLINK_NOFOLLOW);
        if (found != 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0)
            refuse("its folder of tickets is not this user's alone");
    }
}

/* Take the ticket out of reach of any other process, then read it. */
static int claim(const char *given) {
    char from[64], to[64];
    if (strlen(given) != ID_LENGTH || strspn(given, "0123456789abcdef") != ID_LENGTH) refuse("this is not a ticket");
    snprintf(from, sizeof from, "tickets/%s", given);
    snprintf(to, sizeof to, "claimed/%s", given);
    if (syscall(SYS_renameat2, folder, from, folder, to, 1 /* RENAME_NOREPLACE */) != 0)
        refuse(errno == EROFS || errno == EACCES || errno == EPERM
                   ? "Assent's folder cannot be written here; another sandbox is around this command"
                   : "its ticket was used already, or never was");
    int handle = openat(folder, to, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    bool right = handle >= 0 && fstat(handle, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
                 status.st_nlink == 1 && (status.st_mode & 077) == 0;
    unlinkat(folder, to, 0);
    if (!right) refuse("its ticket is not a file of this user alone");
    memcpy(id, given, ID_LENGTH + 1);
    const char *wrong = read_ticket(&ticket, handle);
    if (wrong != NULL) ticket.count = 0, refuse("its ticket cannot be used: %s", wrong);
    if (strcmp(value_of(&ticket, "id"), id) != 0) refuse("its ticket was made for another run");
    if (time(NULL) > number_of(&ticket, "expires", 0, LONG_MAX)) refuse("its ticket has expired");
    return handle;
}

/* ---------------------------------------------------------------- the sandbox */

/* The next opened file would get the number of a closed standard handle; a folder is a way out of the sandbox. */
static void check_handles(void) {
    int handle;
    do handle = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (handle >= 0 && handle <= STDERR_FILENO && fcntl(handle, F_SETFD, 0) == 0);
    for (int at = 0; at <= STDERR_FILENO; at++) {
        struct stat status;
        int flags = fcntl(at, F_GETFL);
        if (flags < 0 || fstat(at, &status) != 0) refuse("a standard handle cannot be used");
        if (S_ISDIR(status.st_mode) || (flags & O_PATH) != 0) refuse("a standard handle is a folder");
        if (S_ISBLK(status.st_mode)) refuse("a standard handle is a disk");
    }
}

static int write_memory(const char *name, struct bytes text) {
    int handle = memfd_create(name, MFD_CLOEXEC);
    if (handle < 0 || !write_all(handle, text.data, text.size) || lseek(handle, 0, SEEK_SET) != 0)
        refuse("the words for the sandbox cannot be written");
    free(text.data);
    return handle;
}

/* All options of bubblewrap except the command, as a file; and the expected files at the mounted paths. */
static int write_words(int *places) {
    struct bytes words = {0}, expected = {0};
    for (size_t at = 0; at < ticket.count; at++)
        if (strcmp(ticket.keys[at], "word") == 0) add_field(&words, ticket.values[at]);
    lock_runs(folder);
    protect(&ticket, &words, &expected);
    register_run(folder, id, &ticket);
    unlock_runs();
    static const char *const LAST[] = {"--remount-ro", "/", "--chdir"};
    for (size_t at = 0; at < COUNT(LAST); at++) add_field(&words, LAST[at]);
    add_field(&words, value_of(&ticket, "cwd"));
    *places = write_memory("places", expected);
    return write_memory("words", words);
}

static pid_t start_sandbox(int line, int ticket_handle, bool terminal) {
    const char *program = value_of(&ticket, "bwrap");
    struct stat status;
    if (program[0] != '/' || stat(program, &status) != 0) refuse("bubblewrap is not there");
    if (status.st_uid != 0 || (status.st_mode & 022) != 0) refuse("bubblewrap is not a program of the system");
    int places, words = write_words(&places), self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (self < 0) refuse("it cannot be opened");
    char name[5][32];
    snprintf(name[0], sizeof name[0], "%d", words);
    snprintf(name[1], sizeof name[1], "/proc/self/fd/%d", self);
    snprintf(name[2], sizeof name[2], "%d", line);
    snprintf(name[3], sizeof name[3], "%d", ticket_handle);
    snprintf(name[4], sizeof name[4], "%d", places);
    /* A terminal that is not the command's own could be read and taken by it. */
    char *session = terminal ? "--as-pid-1" : "--new-session";
    char *const command[] = {"bwrap", "--args", name[0], session, "--", name[1], "inside", name[2], name[3],
                             name[4], terminal ? "1" : "0", NULL};
    char *const nothing[] = {NULL}; /* no variables for the loader of bubblewrap */
    pid_t child = fork();
    if (child == 0) {
        const int kept[] = {words, self, line, ticket_handle, places};
        setpgid(0, 0); /* signals for the group of this process reach it alone, and are passed on */
        for (size_t at = 0; at < COUNT(kept); at++) fcntl(kept[at], F_SETFD, 0);
        sigprocmask(SIG_SETMASK, &signals_before, NULL);
        signal(SIGPIPE, broken_pipe_before);
        execve(program, command, nothing);
        _exit(127);
    }
    if (child < 0) refuse("no process can be started");
    close(words), close(self), close(line), close(ticket_handle), close(places);
    return child;
}

/* ---------------------------------------------------------------- the proxy, if hosts are open */

static pid_t proxy;
static int proxy_report = -1;

static void start_proxy(int listening) {
    char *words[64];
    size_t count = 0;
    for (size_t at = 0; at < ticket.count && count < COUNT(words) - 1; at++)
        if (strcmp(ticket.keys[at], "proxy") == 0) words[count++] = (char *)ticket.values[at];
    words[count] = NULL;
    int report = memfd_create("report", MFD_CLOEXEC);
    if (count == 0 || report < 0) refuse("the proxy has no words");
    proxy = fork();
    if (proxy == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int high = fcntl(report, F_DUPFD_CLOEXEC, 16), socket = fcntl(listening, F_DUPFD_CLOEXEC, 16);
        int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (dup2(socket, PROXY_HANDLE) < 0 || dup2(high, REPORT_HANDLE) < 0 || dup2(nothing, 0) < 0 || dup2(nothing, 1) < 0)
            _exit(127);
        sigprocmask(SIG_SETMASK, &signals_before, NULL);
        char *const nowhere[] = {"PATH=/usr/bin:/bin", NULL};
        execve(words[0], words, nowhere);
        _exit(127);
    }
    if (proxy < 0) refuse("the proxy cannot be started");
    close(listening);
    proxy_report = report;
}

/* One refused host a line. */
static void end_proxy(void) {
    if (proxy <= 0) return;
    kill(proxy, SIGKILL);
    while (waitpid(proxy, NULL, 0) < 0 && errno == EINTR) {}
    proxy = 0;
    char text[16 << 10];
    ssize_t size = pread(proxy_report, text, sizeof text - 1, 0);
    text[size > 0 ? size : 0] = '\0';
    for (char *host = strtok(text, "\n"); host != NULL; host = strtok(NULL, "\n"))
        add_field(&run.found, "refused"), add_field(&run.found, host);
}

/* ---------------------------------------------------------------- while it runs */

static bool has_terminal(void) {
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

static void take_terminal(void) { (void)tcsetpgrp(STDIN_FILENO, getpgrp()); } /* SIGTTOU is blocked */

static int watch_signals(void) {
    sigset_t set;
    sigemptyset(&set);
    for (size_t at = 0; at < COUNT(PASSED); at++) sigaddset(&set, PASSED[at]);
    sigaddset(&set, SIGCHLD);
    sigset_t blocked = set;
    sigaddset(&blocked, SIGTTOU);
    sigprocmask(SIG_BLOCK, &blocked, &signals_before);
    int handle = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (handle < 0) refuse("signals cannot be watched");
    return handle;
}

/* Ended, in a way that waitpid tells. */
static void ended(int status) {
    run.until = now();
    run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    run.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* Afterwards: scan for forbidden files, and report how it ended. */
static void finish(const char *place) {
    lock_runs(folder);
    look_after(&ticket, mkdirat(folder, place, 0700) == 0 ? openat(folder, place, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1,
               &run.found);
    unlinkat(folder, place, AT_REMOVEDIR); /* if it is empty */
    if (!write_receipt(run.timed_out ? "it ran into its time limit" : ""))
        (void)write_all(STDERR_FILENO, "assent: the receipt cannot be written\n", 38);
    forget_run(folder, id, &ticket);
    unlock_runs();
}

/* ---------------------------------------------------------------- if this process is killed */

static int keeper = -1; /* the pipe to it; it exits once told that this process has finished */

static void dismiss_keeper(void) {
    if (keeper >= 0) (void)!write(keeper, "", 1);
}

/* The parent may kill this process and all its children: an agent chooses the timeout of a call. So another process,
   detached from it, waits for its end and does the work afterwards. */
_Noreturn static void keep(int line, int first) {
    char said, place[64];
    ssize_t heard;
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int at = 0; at <= STDERR_FILENO; at++) dup2(nothing, at);
    setsid();
    do heard = read(line, &said, 1);
    while (heard < 0 && errno == EINTR);
    if (heard > 0) _exit(0);
    syscall(424 /* pidfd_send_signal */, first, SIGKILL, NULL, 0);
    struct pollfd gone = {.fd = first, .events = POLLIN}; /* ready once everything in its namespace ended */
    while (poll(&gone, 1, -1) < 0 && errno == EINTR) {}
    run.started = true;
    ended(W_EXITCODE(0, SIGKILL));
    snprintf(place, sizeof place, "quarantine/%s-killed", id);
    finish(place);
    _exit(0);
}

/* `first` is process 1 inside. */
static void start_keeper(pid_t first) {
    int lines[2], handle = (int)syscall(434 /* pidfd_open */, first, 0);
    if (handle < 0 || pipe2(lines, O_CLOEXEC) != 0) refuse("the sandbox cannot be watched");
    pid_t child = fork();
    if (child == 0) {
        pid_t inner = fork();
        if (inner != 0) _exit(inner < 0);
        close(lines[1]);
        keep(lines[0], handle);
    }
    int status = 1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (child < 0 || status != 0) refuse("the sandbox cannot be watched");
    close(lines[0]), close(handle);
    keeper = lines[1];
}

struct watched {
    int line, signals;
    pid_t sandbox;
    bool terminal, over, gone; /* over: the command ended; gone: and everything inside with it */
};

static void on_message(struct watched *at) {
    struct message message;
    int handle = -1;
    if (!receive_message(at->line, &message, &handle)) {
        close(at->line);
        at->line = -1;
        return;
    }
    switch (message.kind) {
    case LISTENS:
        if (handle < 0) refuse("the proxy has no socket");
        start_proxy(handle);
        send_message(at->line, (struct message){.kind = GO_ON, .value = 0}, -1);
        break;
    case STARTED: run.started = true, run.from = now(); break;
    case NOT_STARTED:
        memcpy(why, message.text, sizeof why), why[sizeof why - 1] = '\0';
        at->over = run.never = true;
        break;
    case READY:
        start_keeper(sender);
        run.released = true;
        send_message(at->line, (struct message){.kind = GO_ON}, -1);
        break;
    case ENDED: ended(message.value), at->over = at->gone = true; break; /* its namespaces end later */
    case STOPPED: /* stop like the command; then both continue */
        if (at->terminal) take_terminal();
        kill(getpid(), SIGSTOP);
        at->terminal = at->terminal || has_terminal();
        send_message(at->line, (struct message){.kind = GO_ON, .value = at->terminal}, -1);
        break;
    default: break;
    }
}

static void on_signal(struct watched *at) {
    struct signalfd_siginfo info;
    while (read(at->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo != SIGCHLD) {
            if (at->line >= 0) send_message(at->line, (struct message){.kind = SIGNAL, .value = (int)info.ssi_signo}, -1);
            continue;
        }
        int status;
        if (waitpid(at->sandbox, &status, WNOHANG) != at->sandbox) continue;
        at->gone = true;
        while (at->line >= 0 && !at->over) on_message(at); /* messages sent before it ended */
        if (!at->over && run.started) ended(W_EXITCODE(0, SIGKILL)); /* ended from outside */
    }
}

/* Wait until nothing runs inside any more. */
static void watch_run(struct watched *at) {
    long seconds = number_of(&ticket, "seconds", 0, 86400); /* 0: a server, which has no limit */
    int64_t limit = now() + START, forced = INT64_MAX;
    bool timing = false;
    while (!at->gone) {
        if (run.started && !timing) limit = seconds > 0 ? run.from + seconds * 1000 : INT64_MAX / 2, timing = true;
        if (at->over && forced == INT64_MAX) forced = now() + PATIENCE;
        int64_t next = at->over || forced != INT64_MAX ? forced : limit, left = next - now();
        if (left <= 0 && forced == INT64_MAX) { /* the time limit */
            run.timed_out = run.started;
            if (at->line >= 0) send_message(at->line, (struct message){.kind = END, .value = GRACE}, -1);
            forced = now() + GRACE + PATIENCE;
            continue;
        }
        if (left <= 0) kill(at->sandbox, SIGKILL), forced = now() + PATIENCE;
        struct pollfd ready[] = {{.fd = at->signals, .events = POLLIN}, {.fd = at->line, .events = POLLIN}};
        if (poll(ready, 2, left > INT_MAX ? INT_MAX : left > 0 ? (int)left : 0) < 0 && errno != EINTR) refuse("it cannot wait");
        if (ready[1].revents != 0) on_message(at);
        if (ready[0].revents != 0) on_signal(at);
    }
}

/* End as the command did. */
_Noreturn static void end_alike(void) {
    if (run.signal != 0) {
        struct rlimit none = {0, 0};
        sigset_t only;
        setrlimit(RLIMIT_CORE, &none);
        signal(run.signal, SIG_DFL);
        sigemptyset(&only);
        sigaddset(&only, run.signal);
        kill(getpid(), run.signal);
        sigprocmask(SIG_UNBLOCK, &only, NULL);
    }
    _exit(run.status);
}

int main(int argc, char **argv) {
    if (argc == 6 && strcmp(argv[1], "inside") == 0)
        inside(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]), atoi(argv[5]) != 0);
    if (argc != 2) refuse("start it with one ticket");
    syscall(SYS_close_range, 3, ~0U, 0);
    check_handles();
    broken_pipe_before = signal(SIGPIPE, SIG_IGN);
    open_folder();
    int ticket_handle = claim(argv[1]), lines[2];
    struct watched at = {.signals = watch_signals()};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, lines) != 0) refuse("it cannot speak with the sandbox");
    if (setsockopt(lines[0], SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int)) != 0) refuse("it cannot speak with the sandbox");
    at.terminal = has_terminal();
    read_patterns(&ticket);
    at.line = lines[0], at.sandbox = start_sandbox(lines[1], ticket_handle, at.terminal);
    run.from = run.until = now();
    watch_run(&at);
    if (at.terminal) take_terminal();
    end_proxy();
    if (!run.started) refuse("%s", why);
    char place[64];
    snprintf(place, sizeof place, "quarantine/%s", id);
    finish(place);
    dismiss_keeper();
    end_alike();
}
