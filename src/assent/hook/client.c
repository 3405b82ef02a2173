/* The hook of agent programs as a small compiled program: the same as `assent.hook.client`, for a running server.

   Reads an event from standard input, hands it to the server over its Unix socket, waits while a person is asked, and
   prints the answer. Decides nothing: if no server answers, it becomes the hook in Python, which decides by itself,
   with the event as its standard input. INVARIANT: it ends with status 0 only with a whole answer of the server.

   assent-hook hook RUNTIME [--home DIR] [--socket PATH] [--project DIR] [--deadline SECONDS] [--variable NAME]
               [--once WORD]... --cold PROGRAM [WORD]...

   Linux, C11, no libraries. tests/client/ runs it and `warm.py` through the same cases. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    BLOCKED = 2,              /* the exit status of a block */
    DEADLINE = 570,           /* seconds for everything, by default */
    QUICK = 2 * 1000,         /* milliseconds for an answer, or for `held` */
    QUIET = 40 * 1000,        /* milliseconds for an answer about a held call */
    LOOK = 2 * 1000,          /* milliseconds between checks of the program */
    SOON = 200,               /* milliseconds until the first check: most answers come before */
    AGAIN = 500,              /* milliseconds between tries to reach a server that went away */
    LARGEST = 64 << 20,       /* bytes of an event */
    MOST = 16 << 20,          /* bytes of an answer */
    HEAD = 256,               /* bytes before the body of a request */
    MOST_HEAD = 1 << 16,      /* bytes before the body of an answer */
    DEEPEST = 8,              /* processes between a hook and its program */
    MOST_ONCE = 8, MOST_NAMES = 512,
    MOST_COLD = 16, MOST_WORDS = MOST_COLD + 16,
};

/* Variables that adapters read; as in client.py. */
static const char ATTENDED[] = "ASSENT_HOST_ATTENDED";
static const char *const NAMES[] = {"HOME", "SHELL", "PATH"};
static const char *const SECRET[] = {"TOKEN", "KEY", "SECRET", "PASSWORD"};
/* As in facts/host.py. */
static const char *const SHELLS[] = {"sh", "bash", "dash", "zsh", "ksh", "busybox"};
static const char *const TERMINALS[] = {"/dev/pts/", "/dev/tty", "/dev/console"};
/* Variables that would affect the interpreter of the cold path before its first line. */
static const char *const STEERING[] = {"LD_",     "PYTHON",  "GLIBC_TUNABLES=", "GCONV_PATH=",
                                       "LOCPATH=", "MALLOC_", "OPENSSL_"};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static struct {
    const char *runtime, *home, *socket, *project, *variable, *once[MOST_ONCE];
    size_t onces;
    int deadline;
    char **cold;
} options = {.deadline = DEADLINE};

static int64_t start; /* start time, by now() */
static pid_t parent;  /* the parent process */

static int64_t now(void) { /* milliseconds */
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* ---------------------------------------------------------------- bytes that grow */

struct bytes {
    char *data;
    size_t size, room;
    bool mapped, broken; /* broken: there was no memory for all of it */
};

static bool make_room(struct bytes *into, size_t more) {
    if (into->size + more <= into->room) return true;
    size_t room = into->room * 2;
    while (room < into->size + more) room *= 2;
    char *data = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) {
        into->broken = true;
        return false;
    }
    memcpy(data, into->data, into->size);
    if (into->mapped) munmap(into->data, into->room);
    into->data = data, into->room = room, into->mapped = true;
    return true;
}

static void add(struct bytes *into, const char *data, size_t size) {
    if (!make_room(into, size)) return;
    memcpy(into->data + into->size, data, size);
    into->size += size;
}

static void add_text(struct bytes *into, const char *text) { add(into, text, strlen(text)); }

static char event_room[1 << 16], request_room[1 << 17], answer_room[1 << 16];
static struct bytes event = {.data = event_room, .room = sizeof event_room};
static struct bytes request = {.data = request_room, .room = sizeof request_room};
static struct bytes answer = {.data = answer_room, .room = sizeof answer_room};

/* ---------------------------------------------------------------- the ways out */

static bool write_all(int handle, const char *data, size_t size) {
    while (size > 0) {
        ssize_t done = write(handle, data, size);
        if (done > 0) {
            data += done, size -= (size_t)done;
        } else if (done < 0 && errno == EAGAIN) {
            struct pollfd ready = {.fd = handle, .events = POLLOUT};
            if (poll(&ready, 1, QUIET) == 0) return false;
        } else if (done == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

/* The last resort: a block by the exit status. */
_Noreturn static void blocked(const char *why) {
    char line[512];
    int size = snprintf(line, sizeof line, "Assent could not decide: %s\n", why);
    if (size > 0) (void)write_all(STDERR_FILENO, line, (size_t)size < sizeof line ? (size_t)size : sizeof line - 1);
    _exit(BLOCKED);
}

static bool steers(const char *variable) {
    for (size_t at = 0; at < COUNT(STEERING); at++)
        if (strncmp(variable, STEERING[at], strlen(STEERING[at])) == 0) return true;
    return false;
}

_Noreturn static void become(char **words) {
    size_t kept = 0;
    for (size_t at = 0; environ[at] != NULL; at++)
        if (!steers(environ[at])) environ[kept++] = environ[at];
    environ[kept] = NULL;
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    execve(words[0], words, environ);
    blocked("its Python is gone; install Assent again and run `assent install`, or remove its hook from the settings");
}

static size_t cold_words(char **words) {
    size_t count = 0;
    while (options.cold[count] != NULL) words[count] = options.cold[count], count++;
    words[count++] = "hook";
    words[count++] = (char *)options.runtime;
    return count;
}

/* The runtime's own form of a block, from the adapters in Python. */
_Noreturn static void fault(const char *why) {
    char *words[MOST_WORDS];
    size_t count = cold_words(words);
    words[count++] = "--fault";
    words[count++] = (char *)why;
    words[count] = NULL;
    become(words);
}

_Noreturn static void too_late(void) {
    char why[64];
    snprintf(why, sizeof why, "no decision within %d seconds", options.deadline);
    fault(why);
}

/* Standard input with the event that was read. */
static bool give_back(void) {
    if (options.variable != NULL) return true;
    int handle = memfd_create("event", MFD_CLOEXEC);
    if (handle >= 0 && write_all(handle, event.data, event.size) && lseek(handle, 0, SEEK_SET) == 0)
        return dup2(handle, STDIN_FILENO) == STDIN_FILENO;
    int ends[2]; /* a small event also fits into a pipe, to which no file size limit applies */
    if (handle >= 0) close(handle);
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
    ssize_t done = write(ends[1], event.data, event.size);
    if (done < 0 ? event.size > 0 : (size_t)done != event.size) return false;
    int flags = fcntl(ends[0], F_GETFL);
    if (flags < 0 || fcntl(ends[0], F_SETFL, flags & ~O_NONBLOCK) != 0) return false;
    return dup2(ends[0], STDIN_FILENO) == STDIN_FILENO;
}

/* The hook in Python decides, alone: a server that did not answer us is not asked twice. */
_Noreturn static void cold(void) {
    char *words[MOST_WORDS], deadline[16];
    size_t count = cold_words(words);
    const char *given[][2] = {{"--home", options.home}, {"--socket", options.socket}, {"--project", options.project}};
    for (size_t at = 0; at < COUNT(given); at++)
        if (given[at][1] != NULL) words[count++] = (char *)given[at][0], words[count++] = (char *)given[at][1];
    int64_t left = options.deadline - (now() - start) / 1000;
    snprintf(deadline, sizeof deadline, "%d", left > 1 ? (int)left : 1);
    words[count++] = "--deadline";
    words[count++] = deadline;
    words[count++] = "--alone";
    words[count++] = "yes";
    words[count] = NULL;
    if (!give_back()) fault("the event cannot be handed on");
    become(words);
}

/* ---------------------------------------------------------------- the command line and the event */

static void read_options(char **argv) {
    static const char wrong[] = "its hook was called wrongly; run `assent doctor`";
    if (argv[0] == NULL || argv[1] == NULL || strcmp(argv[1], "hook") != 0 || argv[2] == NULL) blocked(wrong);
    options.runtime = argv[2];
    if (strspn(options.runtime, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(options.runtime)) blocked(wrong);
    if (strlen(options.runtime) > 40) blocked(wrong);
    for (char **word = argv + 3; *word != NULL; word += 2) {
        if (word[1] == NULL) break;
        if (strcmp(*word, "--cold") == 0) {
            options.cold = word + 1;
            break;
        }
        if (strcmp(*word, "--home") == 0) options.home = word[1];
        else if (strcmp(*word, "--socket") == 0) options.socket = word[1];
        else if (strcmp(*word, "--project") == 0) options.project = word[1];
        else if (strcmp(*word, "--variable") == 0) options.variable = word[1];
        else if (strcmp(*word, "--once") == 0 && options.onces < MOST_ONCE) options.once[options.onces++] = word[1];
        else if (strcmp(*word, "--deadline") == 0) {
            size_t length = strlen(word[1]);
            if (length == 0 || length > 6 || strspn(word[1], "0123456789") != length) blocked(wrong);
            options.deadline = atoi(word[1]);
        } else blocked(wrong);
    }
    if (options.cold == NULL || options.cold[0][0] != '/') blocked(wrong);
    size_t count = 0;
    while (options.cold[count] != NULL) count++;
    if (count > MOST_COLD) blocked(wrong);
}

/* The next opened file would get the number of a closed standard handle, and the answer would go into it. */
static void hold_handles(void) {
    if (fcntl(STDOUT_FILENO, F_GETFD) < 0) blocked("there is no standard output to answer on");
    int handle;
    do handle = open("/dev/null", O_RDWR);
    while (handle >= 0 && handle <= STDERR_FILENO);
    if (handle >= 0) close(handle);
}

static void read_event(void) {
    if (options.variable != NULL) {
        const char *given = getenv(options.variable);
        if (given != NULL) add_text(&event, given);
        return;
    }
    for (;;) {
        int64_t left = start + (int64_t)options.deadline * 1000 - now();
        struct pollfd ready = {.fd = STDIN_FILENO, .events = POLLIN};
        if (left <= 0) too_late();
        int came = poll(&ready, 1, (int)left);
        if (came < 0 && errno != EINTR) fault("the event cannot be waited for");
        if (came <= 0) continue;
        if (!make_room(&event, 1 << 14)) fault("there is no memory for the event");
        ssize_t size = read(STDIN_FILENO, event.data + event.size, event.room - event.size);
        if (size == 0) return;
        if (size < 0 && errno != EINTR && errno != EAGAIN) fault("the event cannot be read");
        if (size > 0) event.size += (size_t)size;
        if (event.size > LARGEST) fault("the event is longer than 67108864 bytes");
    }
}

/* ---------------------------------------------------------------- the program that asks */

struct chain {
    pid_t pids[DEEPEST + 1];
    size_t count;
};

static ssize_t read_file(const char *path, char *into, size_t room) {
    int handle = open(path, O_RDONLY | O_CLOEXEC);
    if (handle < 0) return -1;
    size_t size = 0;
    while (size < room) {
        ssize_t more = read(handle, into + size, room - size);
        if (more < 0 && errno == EINTR) continue;
        if (more <= 0) break;
        size += (size_t)more;
    }
    close(handle);
    return (ssize_t)size;
}

static bool is_shell(const char *name, size_t length) {
    for (size_t at = 0; at < COUNT(SHELLS); at++)
        if (strlen(SHELLS[at]) == length && memcmp(SHELLS[at], name, length) == 0) return true;
    return false;
}

/* Shells, and the nearest ancestor that is no shell; 0 if there is none. False: not known. */
static bool chain_above(struct chain *found) {
    pid_t pid = getppid();
    found->count = 0;
    while (pid > 1 && found->count < DEEPEST) {
        char path[64], text[1024];
        found->pids[found->count++] = pid;
        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
        ssize_t size = read_file(path, text, sizeof text - 1);
        if (size <= 0) return false;
        text[size] = '\0';
        char *name = strchr(text, '('), *end = strrchr(text, ')');
        if (name == NULL || end == NULL || end < name) return false;
        if (!is_shell(name + 1, (size_t)(end - name - 1))) return true;
        if (sscanf(end + 1, " %*c %d", &pid) != 1) return false;
    }
    found->pids[found->count++] = 0;
    return true;
}

static struct chain above(void) {
    struct chain found;
    if (!chain_above(&found)) found.count = 1, found.pids[0] = getppid();
    return found;
}

static bool same(const struct chain *one, const struct chain *other) {
    return one->count == other->count && memcmp(one->pids, other->pids, one->count * sizeof one->pids[0]) == 0;
}

/* Exit if the program that asked has ended: nobody waits for the answer. */
static void look_up(void) {
    static struct chain first = {.count = 0};
    struct chain found = above();
    if (first.count == 0) first = found;
    if (getppid() != parent || !same(&first, &found)) fault("the program that asked has ended");
}

static bool starts(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

static bool is_once(const char *word) {
    for (size_t at = 0; at < options.onces; at++) {
        size_t length = strlen(options.once[at]);
        if (strncmp(word, options.once[at], length) == 0 && (word[length] == '\0' || word[length] == '=')) return true;
    }
    return false;
}

/* Whether the program certainly runs unattended; as in facts/host.py. */
static bool unattended(void) {
    static char words[1 << 20];
    struct chain found;
    if (!chain_above(&found) || found.pids[found.count - 1] == 0) return false;
    int pid = (int)found.pids[found.count - 1];
    char path[64], target[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    ssize_t size = read_file(path, words, sizeof words - 1);
    if (size < 0) return false;
    words[size] = '\0';
    for (char *word = words; word <= words + size; word += strlen(word) + 1)
        if (is_once(word)) return true;
    for (int handle = 0; handle <= 1; handle++) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, handle);
        ssize_t length = readlink(path, target, sizeof target - 1);
        if (length < 0) return false;
        target[length] = '\0';
        bool terminal = false;
        for (size_t at = 0; at < COUNT(TERMINALS); at++) terminal = terminal || starts(target, TERMINALS[at]);
        if (!terminal) return true;
    }
    return false;
}

/* ---------------------------------------------------------------- the request */

/* The number of bytes of a UTF-8 character; 0 if it is invalid. */
static size_t character(const unsigned char *at, size_t left) {
    unsigned char first = at[0];
    if (first < 0x80) return 1;
    if (first < 0xC2 || first > 0xF4) return 0;
    size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (left < length) return 0;
    for (size_t each = 1; each < length; each++)
        if ((at[each] & 0xC0) != 0x80) return 0;
    if (first == 0xE0 && at[1] < 0xA0) return 0;  /* an overlong form */
    if (first == 0xED && at[1] >= 0xA0) return 0; /* a surrogate */
    if (first == 0xF0 && at[1] < 0x90) return 0;
    if (first == 0xF4 && at[1] >= 0x90) return 0; /* beyond the last */
    return length;
}

static bool is_text(const char *data, size_t size) {
    const unsigned char *at = (const unsigned char *)data;
    for (size_t place = 0; place < size;) {
        size_t length = character(at + place, size - place);
        if (length == 0) return false;
        place += length;
    }
    return true;
}

/* A JSON string. Invalid bytes are written like in Python: as lone surrogates. */
static void add_string(struct bytes *into, const char *data, size_t size) {
    add(into, "\"", 1);
    for (size_t from = 0, place = 0; from < size; from = place) {
        while (place < size) {
            unsigned char each = (unsigned char)data[place];
            if (each < 0x20 || each == '"' || each == '\\') break;
            size_t length = character((const unsigned char *)data + place, size - place);
            if (length == 0) break;
            place += length;
        }
        add(into, data + from, place - from);
        if (place < size) {
            char escaped[8];
            unsigned char each = (unsigned char)data[place++];
            if (each == '"' || each == '\\') snprintf(escaped, sizeof escaped, "\\%c", each);
            else snprintf(escaped, sizeof escaped, "\\u%s%02x", each < 0x20 ? "00" : "dc", each);
            add_text(into, escaped);
        }
    }
    add(into, "\"", 1);
}

/* Whether a variable begins with the runtime's name in capitals, and `_`. */
static bool is_of_runtime(const char *name, size_t length) {
    size_t size = strlen(options.runtime);
    if (length <= size || name[size] != '_') return false;
    for (size_t at = 0; at < size; at++) {
        char each = options.runtime[at];
        if (name[at] != (each == '-' ? '_' : each >= 'a' && each <= 'z' ? each - 'a' + 'A' : each)) return false;
    }
    return true;
}

static bool is_told(const char *name, size_t length) {
    bool wanted = false;
    for (size_t at = 0; at < COUNT(NAMES); at++)
        wanted = wanted || (strlen(NAMES[at]) == length && memcmp(NAMES[at], name, length) == 0);
    wanted = wanted || is_of_runtime(name, length);
    for (size_t at = 0; wanted && at < COUNT(SECRET); at++)
        wanted = memmem(name, length, SECRET[at], strlen(SECRET[at])) == NULL;
    return wanted;
}

/* The part of the environment that adapters read. If a name is there twice, the first counts. */
static void add_environment(struct bytes *into) {
    const char *names[MOST_NAMES];
    size_t lengths[MOST_NAMES], count = 0;
    add(into, "{", 1);
    for (char **each = environ; *each != NULL; each++) {
        const char *end = strchr(*each, '=');
        if (end == NULL || !is_told(*each, (size_t)(end - *each))) continue;
        size_t length = (size_t)(end - *each);
        bool twice = false;
        for (size_t at = 0; at < count; at++)
            twice = twice || (lengths[at] == length && memcmp(names[at], *each, length) == 0);
        if (twice) continue;
        if (count == MOST_NAMES) cold();
        names[count] = *each, lengths[count] = length;
        if (count++ > 0) add(into, ",", 1);
        add_string(into, *each, length);
        add(into, ":", 1);
        add_string(into, end + 1, strlen(end + 1));
    }
    if (options.onces > 0 && unattended()) {
        if (count > 0) add(into, ",", 1);
        add_string(into, ATTENDED, strlen(ATTENDED));
        add_text(into, ":\"0\"");
    }
    add(into, "}", 1);
}

/* The start folder of the agent program, not that of the call, which the model chooses. */
static void add_project(struct bytes *into) {
    char folder[PATH_MAX + 1], path[64];
    if (options.project != NULL && options.project[0] != '\0') {
        add_string(into, options.project, strlen(options.project));
        return;
    }
    snprintf(path, sizeof path, "/proc/%d/cwd", (int)parent);
    ssize_t length = readlink(path, folder, sizeof folder - 1);
    if (length < 0 && getcwd(folder, sizeof folder) != NULL) length = (ssize_t)strlen(folder);
    if (length < 0) cold();
    add_string(into, folder, (size_t)length);
}

/* The body, without the held question and the last bracket. The head comes before it once its length is known. */
static void write_body(void) {
    request.size = HEAD;
    add_text(&request, "{\"payload\":");
    add_string(&request, event.data, event.size);
    add_text(&request, ",\"environ\":");
    add_environment(&request);
    add_text(&request, ",\"project\":");
    add_project(&request);
    char deadline[32];
    int64_t left = options.deadline - 1 - (now() - start) / 1000;
    snprintf(deadline, sizeof deadline, ",\"deadline\":%d", left > 1 ? (int)left : 1);
    add_text(&request, deadline);
}

/* ---------------------------------------------------------------- the server */

/* The socket is a socket of this user, in a folder that nobody else can enter. */
static bool is_ours(const char *path) {
    char folder[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
    const char *end = strrchr(path, '/');
    size_t length = end == NULL ? 0 : (size_t)(end - path);
    if (path[0] != '/' || strlen(path) >= sizeof folder) return false;
    memcpy(folder, path, length);
    strcpy(folder + length, length == 0 ? "/" : "");
    struct stat found;
    uid_t us = geteuid();
    if (lstat(folder, &found) != 0 || !S_ISDIR(found.st_mode)) return false;
    if (found.st_uid != us || (found.st_mode & 077) != 0) return false;
    if (lstat(path, &found) != 0 || !S_ISSOCK(found.st_mode)) return false;
    return (found.st_uid == us || found.st_uid == 0) && (found.st_mode & 077) == 0;
}

static int connected(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!is_ours(options.socket)) return -1;
    strcpy(address.sun_path, options.socket);
    int line = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (line < 0) return -1;
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (connect(line, (struct sockaddr *)&address, sizeof address) == 0 &&
        getsockopt(line, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == geteuid() || peer.uid == 0))
        return line; /* the listener is this user, or root: a socket file does not say who created it */
    close(line);
    return -1;
}

/* Wait for the server, for at most `wait` milliseconds. Ends everything at the deadline. */
static bool wait_for(int line, short events, int64_t wait) {
    int64_t left = start + (int64_t)options.deadline * 1000 - now();
    if (left <= 0) too_late();
    struct pollfd ready = {.fd = line, .events = events};
    return poll(&ready, 1, (int)(wait < left ? wait : left)) > 0;
}

static bool send_all(int line, const char *data, size_t size, int64_t end) {
    while (size > 0) {
        ssize_t done = send(line, data, size, MSG_NOSIGNAL);
        if (done > 0) {
            data += done, size -= (size_t)done;
        } else if (done < 0 && errno == EAGAIN) {
            if (now() >= end) return false;
            wait_for(line, POLLOUT, end - now());
        } else if (done == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

/* A number of at most nine digits, up to and including the character `end`. */
static bool number(const char **at, const char *last, char end, size_t *found) {
    const char *from = *at;
    for (*found = 0; *at < last && **at >= '0' && **at <= '9' && *at - from < 9; (*at)++)
        *found = *found * 10 + (size_t)(**at - '0');
    return *at > from && *at < last && *(*at)++ == end;
}

/* The start and the length of the body of an HTTP answer; 0 if the head is incomplete. False: not an HTTP head. */
static bool read_head(size_t *begin, size_t *length) {
    static const char first[] = "HTTP/1.1 200 ", field[] = "content-length: ";
    const char *end = memmem(answer.data, answer.size, "\r\n\r\n", 4);
    *begin = 0;
    if (end == NULL) return answer.size < MOST_HEAD;
    if (memcmp(answer.data, first, strlen(first)) != 0) return false;
    const char *after = end + 2; /* every line before this ends in it */
    for (const char *line = answer.data; line < after;) {
        const char *next = (const char *)memmem(line, (size_t)(after - line), "\r\n", 2) + 2;
        if (strncasecmp(line, field, strlen(field)) == 0) {
            const char *at = line + strlen(field);
            *begin = (size_t)(end - answer.data) + 4;
            return number(&at, after, '\r', length);
        }
        line = next;
    }
    return false;
}

enum reached { LOST, WHOLE };

/* One request; the body of the answer is at the end of `answer`. While waiting for a person, also check that the
   program still waits. */
static enum reached ask(int line, size_t *begin, size_t *length, int64_t end) {
    int64_t look = SOON;
    answer.size = 0, *begin = 0;
    for (;;) {
        int64_t left = end - now();
        if (!wait_for(line, POLLIN, left < look ? (left > 0 ? left : 0) : look)) {
            look_up();
            look = LOOK;
            if (now() >= end) return LOST;
            continue;
        }
        if (!make_room(&answer, 1 << 14)) return LOST;
        ssize_t size = recv(line, answer.data + answer.size, answer.room - answer.size, 0);
        if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (size <= 0) return LOST;
        answer.size += (size_t)size;
        if (answer.size > MOST) return LOST;
        if (*begin == 0 && !read_head(begin, length)) return LOST;
        if (*begin != 0 && answer.size - *begin > *length) return LOST;
        if (*begin != 0 && answer.size - *begin == *length) return WHOLE;
    }
}

static enum reached exchange(size_t *begin, size_t *length, int wait) {
    int64_t end = now() + wait;
    int line = connected();
    if (line < 0) return LOST;
    char head[HEAD];
    int size = snprintf(head, sizeof head,
                        "POST /v1/hooks/%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                        "Content-Length: %zu\r\nConnection: close\r\n\r\n",
                        options.runtime, request.size - HEAD);
    if (size <= 0 || size >= HEAD) cold();
    char *from = request.data + HEAD - size;
    memcpy(from, head, (size_t)size);
    enum reached reached = LOST;
    if (send_all(line, from, request.size - HEAD + (size_t)size, end)) reached = ask(line, begin, length, end);
    close(line);
    return reached;
}

/* ---------------------------------------------------------------- the answer */

/* `done STATUS LENGTH LENGTH` with both outputs: print them, and exit. Returns if it is no such answer. */
static void finish(const char *at, const char *last) {
    size_t status, out, err;
    if (last - at < 5 || memcmp(at, "done ", 5) != 0) return;
    at += 5;
    if (!number(&at, last, ' ', &status) || !number(&at, last, ' ', &out) || !number(&at, last, '\n', &err)) return;
    if (status > 255 || (size_t)(last - at) != out + err || !is_text(at, out) || !is_text(at + out, err)) return;
    if (!write_all(STDOUT_FILENO, at, out) || !write_all(STDERR_FILENO, at + out, err)) _exit(BLOCKED);
    _exit((int)status);
}

/* `held ID DIGEST`: the end of the next request. False if it is no such answer. */
static bool hold(const char *at, const char *last, size_t body) {
    static const char known[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-";
    char words[2][201];
    if (last - at < 5 || memcmp(at, "held ", 5) != 0) return false;
    at += 5;
    for (int each = 0; each < 2; each++) {
        size_t length = 0;
        while (at < last && length < 200 && *at != '\0' && strchr(known, *at) != NULL) words[each][length++] = *at++;
        words[each][length] = '\0';
        if (length == 0 || at >= last || *at++ != (each == 0 ? ' ' : '\n')) return false;
    }
    if (at != last) return false;
    char text[512];
    snprintf(text, sizeof text, ",\"held\":{\"id\":\"%s\",\"digest\":\"%s\"}}", words[0], words[1]);
    request.size = body;
    add_text(&request, text);
    return !request.broken;
}

static void pause_for(int64_t milliseconds) {
    struct timespec time = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

_Noreturn static void serve(void) {
    int64_t until = start + (int64_t)options.deadline * 1000 - 1000;
    size_t body = request.size, begin, length;
    bool held = false;
    add(&request, "}", 1);
    if (request.broken) cold();
    for (;;) {
        if (exchange(&begin, &length, held ? QUIET : QUICK) == LOST) {
            if (!held) cold();
            if (now() + AGAIN >= until) fault("the server went away while the question waited, and did not come back");
            pause_for(AGAIN);
            look_up();
            continue;
        }
        finish(answer.data + begin, answer.data + begin + length);
        if (!hold(answer.data + begin, answer.data + begin + length, body)) {
            if (!held && !request.broken) cold();
            fault("the server's answer cannot be read");
        }
        held = true;
        if (now() >= until) fault("nobody answered the question in time");
    }
}

/* The server's default socket: in the folder that `assent` itself would use. */
static void find_socket(void) {
    static char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
    if (options.socket != NULL && options.socket[0] != '\0') return;
    const char *folder = options.home, *below = ""; /* never ASSENT_HOME: a project's settings can reach that */
    if (folder == NULL || folder[0] == '\0') folder = getenv("HOME"), below = "/.assent";
    int size = snprintf(path, sizeof path, "%s%s/server.sock", folder != NULL ? folder : "", below);
    if (size <= 0 || (size_t)size >= sizeof path) cold();
    options.socket = path;
}

int main(int argc, char **argv) {
    (void)argc;
    start = now();
    parent = getppid();
    read_options(argv);
    hold_handles();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file size limit makes a write fail, and does not kill us */
    read_event();
    const char *mode = getenv("ASSENT_MODE");
    if (mode != NULL && mode[0] != '\0') cold(); /* the mode holds for this process only */
    if (!is_text(event.data, event.size)) cold();
    find_socket();
    write_body();
    serve();
}
