/* Shared by the parts of `assent-contain`: the ticket, the messages between the process outside and the first one
   inside, and the exits. */

#ifndef RUNNER_H
#define RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    FAILED = 126,            /* the exit status if the command was not run */
    ID_LENGTH = 32,          /* hexadecimal digits of a ticket's id */
    MOST_TICKET = 4 << 20,   /* bytes of a ticket */
    DEEPEST = 128,           /* depth of folders scanned below a root */
    MOST_ENTRIES = 400000,   /* files and folders of a workspace scanned before a run */
    MOST_PROTECTED = 1000,   /* paths that are bound one by one */
    MOST_SEEN = 30000,       /* folders of a workspace for which changed files are listed */
    MOST_CHANGED = 2000,     /* files in that list */
    MOST_PATH = 32 << 10,    /* bytes of a path */
    MOST_BOUND = 4000,       /* bytes of a path that is bound, as the kernel takes it */
    PROXY_HANDLE = 3,        /* where the proxy finds the socket that listens inside */
    REPORT_HANDLE = 4,       /* where the proxy writes the hosts that it refused */
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Text that is built piece by piece; fields end with NUL. */
struct bytes {
    char *data;
    size_t size, room;
};

void add(struct bytes *into, const char *data, size_t size);
void add_field(struct bytes *into, const char *text); /* with its NUL */
bool write_all(int handle, const char *data, size_t size);

/* A ticket is a list of keys and values, each ended by NUL; contain/ticket.py writes it. */
struct ticket {
    char *data;
    size_t count;
    const char **keys, **values;
};

const char *read_ticket(struct ticket *into, int handle); /* its error; NULL: none */
const char *value_of(const struct ticket *ticket, const char *key); /* "" where it has none */
long number_of(const struct ticket *ticket, const char *key, long least, long most);

/* Messages between the process outside and the first one inside. */
enum kind { STARTED = 1, NOT_STARTED, STOPPED, ENDED, LISTENS, SIGNAL, GO_ON, END, READY };

struct message {
    int32_t kind, value;
    char text[240];
};

_Noreturn void inside(int line, int ticket, int places, bool terminal); /* terminal: the command gets it */
bool send_message(int line, struct message message, int handle); /* handle: passed on, unless it is -1 */
bool receive_message(int line, struct message *into, int *handle);
extern pid_t sender; /* of the last message, where the line tells */
extern int inside_line; /* of the first process inside to the one outside; -1 outside */

/* restrict.c: each returns the step that failed, NULL if all worked. */
const char *set_limits(const struct ticket *ticket);
const char *restrict_files(const struct ticket *ticket);
const char *filter_calls(void);

/* watch.c */
void read_patterns(const struct ticket *ticket);
/* Before the run: adds options for bubblewrap, and the expected files at paths inside. */
void protect(const struct ticket *ticket, struct bytes *words, struct bytes *places);
void list_known(const struct ticket *ticket, struct bytes *into); /* the roots, and the known paths in them */
void doubt(const char *list, size_t size); /* the possible changes of the run with this list are unknown */
bool covers(const struct ticket *ticket, const char *list, size_t size); /* it checks all roots of the list */
void look_after(const struct ticket *ticket, int quarantine, struct bytes *receipt);

/* changed.c: before the run each folder and the names in it, after it the findings */
#define NOT_SEEN ((size_t)-1)
size_t see_folder(int folder, const char *path, ino_t number); /* for see_name */
void see_name(size_t folder, const char *name);
void begin_run(void);
void not_complete(void); /* something can change that is not scanned */
void note_file(int folder, const char *name, const char *path, bool fresh, struct bytes *receipt);
bool note_folder(int folder, const char *path, ino_t number, struct bytes *receipt); /* false: it is another one */
void end_changes(struct bytes *receipt);

/* beside.c */
void lock_runs(int folder);
void unlock_runs(void);
void register_run(int folder, const char *id, const struct ticket *ticket);
void forget_run(int folder, const char *id, const struct ticket *ticket);

_Noreturn void refuse(const char *why, ...) __attribute__((format(printf, 1, 2)));

#endif
