/* Protected names in the workspace: made read-only before a run, searched for after it.

   A protected path that exists is bound read-only, and each folder above it, up to the root, is a mount of its own, so
   that none of them can be renamed or removed. One that did not exist is moved to quarantine after the run. The ticket
   has the protected names as globs; the whole workspace is scanned for them, without following links.

   Only names count, never times: a name that was not known before the run is new. */

#define _GNU_SOURCE
#include "runner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---------------------------------------------------------------- patterns */

/* In order of precedence: among matching patterns, the first kind counts. */
enum effect { IGNORE, OPEN, HIDE, PROTECT, PROTECT_FILE, INSTALLED, NOTHING };
static const char *const EFFECTS[] = {"ignore", "open", "hide", "protect", "protect-file", "installed"};

struct pattern {
    const char *text;
    enum effect effect;
    struct pattern *next; /* of those whose last name begins alike */
    const char *ending;   /* the suffix, if the last name is `*` and this; otherwise NULL */
};

static struct pattern *beginning[256]; /* by the first letter of the last name; 0: it begins with a wildcard */

void read_patterns(const struct ticket *ticket) {
    for (size_t at = 0; at < ticket->count; at++)
        for (size_t kind = 0; kind < COUNT(EFFECTS); kind++) {
            if (strcmp(ticket->keys[at], EFFECTS[kind]) != 0) continue;
            struct pattern *made = malloc(sizeof *made);
            if (made == NULL) refuse("there is no memory");
            const char *slash = strrchr(ticket->values[at], '/'), *last = slash == NULL ? ticket->values[at] : slash + 1;
            unsigned char first = (unsigned char)last[0];
            if (strchr("*?[", first) != NULL || strstr(last, "**") != NULL) first = 0;
            const char *ending = last[0] == '*' && strpbrk(last + 1, "*?[") == NULL ? last + 1 : NULL;
            *made = (struct pattern){ticket->values[at], (enum effect)kind, beginning[first], ending};
            beginning[first] = made;
        }
}

/* The end of `[abc]`, and whether the letter is in it; NULL if it never ends. */
static const char *letters(const char *glob, char letter, bool *in) {
    const char *at = glob + 1;
    bool inverted = *at == '!' || *at == '^', found = false;
    if (inverted) at++;
    do {
        if (*at == '\0') return NULL;
        char from = *at, to = at[1] == '-' && at[2] != ']' && at[2] != '\0' ? at[2] : from;
        if (to != from || (at[1] == '-' && at[2] == from)) at += 2;
        found = found || (from <= letter && letter <= to);
        at++;
    } while (*at != ']');
    *in = found != inverted;
    return at + 1;
}

/* `*`, `?` and `[…]` stay within a name, `**` between slashes is any number of folders, elsewhere any text. */
static bool matches(const char *glob, const char *path) {
    for (;; glob++, path++) {
        if (strncmp(glob, "**/", 3) == 0) {
            for (const char *rest = path; rest != NULL; rest = strchr(rest, '/') != NULL ? strchr(rest, '/') + 1 : NULL)
                if (matches(glob + 3, rest)) return true;
            return false;
        }
        if (*glob == '*') {
            bool within = glob[1] != '*';
            while (*glob == '*') glob++;
            for (;; path++) {
                if (matches(glob, path)) return true;
                if (*path == '\0' || (within && *path == '/')) return false;
            }
        }
        if (*path == '\0' || *glob == '\0') return *path == *glob;
        if (*glob == '[') {
            bool in;
            const char *end = letters(glob, *path, &in);
            if (end == NULL) return true; /* nobody knows what it means */
            if (!in || *path == '/') return false;
            glob = end - 1;
        } else if (*glob == '?' ? *path == '/' : *glob != *path) {
            return false;
        }
    }
}

static bool ends_with(const char *name, const char *ending) {
    size_t length = strlen(name), end = strlen(ending);
    return length >= end && memcmp(name + length - end, ending, end) == 0;
}

static enum effect effect_on(const char *path, bool is_folder) {
    const char *slash = strrchr(path, '/'), *last = slash == NULL ? path : slash + 1;
    unsigned char first = (unsigned char)last[0];
    enum effect found = NOTHING;
    for (int wild = 0; wild < 2; wild++)
        for (const struct pattern *each = beginning[wild ? 0 : first]; each != NULL; each = each->next) {
            if (each->effect >= found) continue;
            if (each->ending != NULL && !ends_with(last, each->ending)) continue; /* most names, quickly */
            if (!matches(each->text, path)) continue;
            if (is_folder ? each->effect != PROTECT_FILE : each->effect != INSTALLED) found = each->effect;
        }
    return found == PROTECT_FILE ? PROTECT : found;
}

/* ---------------------------------------------------------------- scanning a folder */

static const char *root;      /* that is looked through */
static bool frozen;           /* nothing in it is writable: scanned for hidden paths only */
static char path[MOST_PATH];  /* below it, of what is looked at */
static size_t entries;

struct known { /* paths protected, hidden or installed before the run */
    char *path, *target; /* target: of a link */
    bool installed;
    bool doubted;        /* another run may have made it */
};

static struct known known[MOST_PROTECTED];
static size_t count_known;

static char *copied(const char *text) {
    char *made = strdup(text);
    if (made == NULL) refuse("there is no memory");
    return made;
}

/* "ROOT/path", in a buffer that the next call reuses. */
static const char *whole_path(void) {
    static char whole[MOST_PATH + 4096];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    return whole;
}

/* Append a name to the path; true if there is room. */
static bool enter(size_t *length, const char *name) {
    size_t more = strlen(name), slash = *length > 0 ? 1 : 0;
    if (*length + slash + more >= sizeof path) return false;
    if (slash > 0) path[*length] = '/';
    memcpy(path + *length + slash, name, more + 1);
    *length += slash + more;
    return true;
}

static void leave(size_t length) { path[length] = '\0'; }

static int open_below(int folder, const char *name) {
    return openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

static unsigned char type_of(int folder, const struct dirent *entry) {
    struct stat status;
    if (entry->d_type != DT_UNKNOWN) return entry->d_type;
    return fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? IFTODT(status.st_mode) : DT_UNKNOWN;
}

static bool is_object_folder(const char *name) { return strlen(name) == 2 && strspn(name, "0123456789abcdef") == 2; }

static bool is_dots(const char *name) { return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0')); }

/* ---------------------------------------------------------------- before the run */

static struct bytes *words;         /* for bubblewrap */
static struct bytes *expected;      /* for the first process inside: the expected files */
static const struct ticket *caches; /* the ticket, for writable parts of installed code */
static bool bound[DEEPEST + 1];     /* whether the folder at that depth is a mount of its own already */
static int opened[DEEPEST + 1];     /* the folder at that depth */

static void mount_words(const char *option, const char *from, const char *to) {
    add_field(words, option);
    if (from != NULL) add_field(words, from);
    add_field(words, to);
}

/* The expected file at a path inside: another run may replace it by a link while bubblewrap resolves it. */
static void expect(int folder, const char *name, const char *place) {
    struct stat status;
    char text[64];
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) != 0) refuse("`%.500s` is gone", place);
    snprintf(text, sizeof text, "%llu %llu", (unsigned long long)status.st_dev, (unsigned long long)status.st_ino);
    add_field(expected, place);
    add_field(expected, text);
}

/* Each folder between the root and the path at this depth becomes its own mount. */
static void bind_above(size_t depth) {
    char above[MOST_BOUND + 4096];
    const char *end = path;
    for (size_t at = 1; at < depth; at++) {
        end = strchr(at == 1 ? end : end + 1, '/');
        if (end == NULL) return;
        if (bound[at]) continue;
        snprintf(above, sizeof above, "%s/%.*s", root, (int)(end - path), path);
        mount_words(frozen ? "--ro-bind" : "--bind", above, above);
        expect(opened[at], "", above);
        bound[at] = true;
    }
}

static void know(const char *target, bool installed) {
    if (count_known == MOST_PROTECTED) refuse("the workspace has more than %d protected paths", MOST_PROTECTED);
    if (strlen(whole_path()) > MOST_BOUND) refuse("`%.200s…` is too long to be protected", whole_path());
    known[count_known].doubted = false;
    known[count_known].path = copied(whole_path());
    known[count_known].installed = installed;
    known[count_known++].target = target == NULL ? NULL : copied(target);
}

/* A file that has another name could be written under that one. */
static void check_names(int folder, const char *name) {
    struct stat status;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode) && status.st_nlink > 1)
        refuse("`%.500s` is protected, and has another name by a hard link", whole_path());
}

static void close_path(int folder, const char *name, unsigned char type, enum effect effect, size_t depth) {
    const char *whole = whole_path();
    if (type == DT_LNK) {
        char target[4096];
        ssize_t size = readlinkat(folder, name, target, sizeof target - 1);
        if (size < 0 || size >= (ssize_t)sizeof target - 1) refuse("the link `%.500s` cannot be read", whole);
        target[size] = '\0';
        if (frozen) return; /* the run cannot change it */
        bind_above(depth);
        know(target, false);
        return;
    }
    know(NULL, effect == INSTALLED);
    if (effect == PROTECT && type != DT_DIR) check_names(folder, name);
    bind_above(depth);
    if (effect != HIDE) {
        mount_words("--ro-bind", whole, whole);
        expect(folder, name, whole);
    } else if (type == DT_DIR) {
        add_field(words, "--perms"), add_field(words, "0555"), mount_words("--tmpfs", NULL, whole);
        mount_words("--remount-ro", NULL, whole);
    } else {
        mount_words("--ro-bind", "/dev/null", whole);
    }
    bound[depth] = true;
}

/* Caches of tools in the folder of installed code. */
static void open_caches(int folder) {
    char inner[sizeof path + 4608];
    struct stat status;
    for (size_t at = 0; at < caches->count; at++) {
        if (strcmp(caches->keys[at], "cache") != 0) continue;
        if (fstatat(folder, caches->values[at], &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(status.st_mode)) continue;
        snprintf(inner, sizeof inner, "%s/%s", whole_path(), caches->values[at]);
        mount_words("--bind", inner, inner);
        expect(folder, caches->values[at], inner);
    }
}

/* Git writes through links in its folder, so the existing ones are recorded. For objects only the folders are scanned:
   git never writes to an existing object. */
static void know_links(int above, const char *name, unsigned char type, size_t length, size_t depth) {
    if (type == DT_LNK) {
        char target[4096];
        ssize_t size = readlinkat(above, name, target, sizeof target - 1);
        if (size < 0 || size >= (ssize_t)sizeof target - 1) refuse("the link `%.500s` cannot be read", whole_path());
        target[size] = '\0';
        know(target, false);
        return;
    }
    int handle = type == DT_DIR && depth < DEEPEST && !is_object_folder(name) ? open_below(above, name) : -1;
    DIR *folder = handle >= 0 ? fdopendir(handle) : NULL;
    if (folder == NULL) return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL; leave(length)) {
        size_t longer = length;
        if (++entries > MOST_ENTRIES) refuse("the workspace has more than %d files to look through", MOST_ENTRIES);
        if (is_dots(entry->d_name) || !enter(&longer, entry->d_name)) continue;
        know_links(handle, entry->d_name, type_of(handle, entry), longer, depth + 1);
    }
    closedir(folder);
}

/* `guarded`: it is read-only already, and is scanned for hidden paths and for files with two names. `place` is the
   index of its list of names. */
static void look_before(int handle, size_t length, size_t depth, bool guarded, size_t place) {
    DIR *folder = fdopendir(handle);
    if (folder == NULL) refuse("`%.500s` cannot be read", whole_path());
    if (depth > DEEPEST) refuse("the folders of the workspace are more than %d deep", DEEPEST);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL; leave(length)) {
        if (is_dots(entry->d_name)) continue;
        size_t longer = length;
        if (++entries > MOST_ENTRIES) refuse("the workspace has more than %d files to look through", MOST_ENTRIES);
        if (!enter(&longer, entry->d_name)) refuse("a path of the workspace is too long");
        see_name(place, entry->d_name);
        unsigned char type = type_of(handle, entry);
        enum effect effect = effect_on(path, type == DT_DIR);
        bound[depth] = false;
        if (effect == IGNORE && !frozen) {
            not_complete();
            continue;
        }
        if (type == DT_SOCK) {
            mount_words("--ro-bind", "/dev/null", whole_path()); /* the listener is outside */
            continue;
        }
        if ((guarded || frozen) && effect != HIDE) {
            effect = NOTHING;
            if (guarded && type == DT_REG) check_names(handle, entry->d_name);
        }
        if (effect == OPEN) {
            know_links(handle, entry->d_name, type, longer, depth);
            continue;
        }
        if (effect != NOTHING) close_path(handle, entry->d_name, type, effect, depth);
        if (type != DT_DIR || effect == HIDE) continue;
        int below = open_below(handle, entry->d_name);
        if (effect == INSTALLED) {
            if (below >= 0) open_caches(below), close(below);
        } else if (below >= 0) {
            opened[depth] = below;
            bool closed = guarded || frozen || effect == PROTECT;
            look_before(below, longer, depth + 1, closed && !frozen, closed ? NOT_SEEN : see_folder(below, whole_path(), entry->d_ino));
        } else if (errno == EACCES && effect == NOTHING && !guarded) {
            close_path(handle, entry->d_name, type, INSTALLED, depth); /* unreadable now, but its owner can change that */
        } else if (errno != ENOENT && errno != EACCES) {
            refuse("`%.500s` cannot be read", whole_path());
        }
    }
    closedir(folder);
}

static int compare_known(const void *one, const void *other) {
    return strcmp(((const struct known *)one)->path, ((const struct known *)other)->path);
}

static bool is_frozen(const struct ticket *ticket, const char *given) {
    for (size_t at = 0; at < ticket->count; at++)
        if (strcmp(ticket->keys[at], "frozen") == 0 && strcmp(ticket->values[at], given) == 0) return true;
    return false;
}

static int open_root(const struct ticket *ticket, const char *given) {
    root = given, frozen = is_frozen(ticket, given);
    path[0] = '\0';
    return open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Sockets of others in visible folders: binding a folder read-only does not block them. */
static void hide_sockets(const struct ticket *ticket) {
    FILE *table = fopen("/proc/net/unix", "re");
    char line[512];
    if (table == NULL) return;
    while (fgets(line, sizeof line, table) != NULL) {
        char *place = strchr(line, '/');
        struct stat status;
        if (place == NULL) continue;
        place[strcspn(place, "\n")] = '\0';
        for (size_t at = 0; at < ticket->count; at++) {
            size_t length = strlen(ticket->values[at]);
            if (strcmp(ticket->keys[at], "visible") != 0 || strncmp(place, ticket->values[at], length) != 0) continue;
            if (place[length] != '/' || lstat(place, &status) != 0 || !S_ISSOCK(status.st_mode)) continue;
            mount_words("--ro-bind", "/dev/null", place);
            break;
        }
    }
    fclose(table);
}

void protect(const struct ticket *ticket, struct bytes *into, struct bytes *places) {
    words = into, expected = places, caches = ticket;
    for (size_t at = 0; at < ticket->count; at++) {
        if (strcmp(ticket->keys[at], "root") != 0) continue;
        int handle = open_root(ticket, ticket->values[at]);
        if (handle < 0) refuse("`%.500s` cannot be read", ticket->values[at]);
        look_before(handle, 0, 1, false, frozen ? NOT_SEEN : see_folder(handle, root, 0));
    }
    hide_sockets(ticket);
    begin_run();
    qsort(known, count_known, sizeof *known, compare_known);
}

void list_known(const struct ticket *ticket, struct bytes *into) {
    for (size_t at = 0; at < ticket->count; at++)
        if (strcmp(ticket->keys[at], "root") == 0 && !is_frozen(ticket, ticket->values[at]))
            add(into, "R", 1), add_field(into, ticket->values[at]);
    for (size_t at = 0; at < count_known; at++)
        if (!known[at].doubted) add(into, "K", 1), add_field(into, known[at].path);
}

static bool lists(const char *list, size_t size, char kind, const char *whole) {
    for (const char *at = list; at < list + size; at += strlen(at) + 1) {
        size_t length = strlen(at + 1);
        if (*at != kind || strncmp(at + 1, whole, length) != 0) continue;
        if (whole[length] == (kind == 'R' ? '/' : '\0')) return true;
    }
    return false;
}

bool covers(const struct ticket *ticket, const char *list, size_t size) {
    for (const char *at = list; at < list + size; at += strlen(at) + 1) {
        bool found = *at != 'R';
        for (size_t each = 0; each < ticket->count && !found; each++)
            found = strcmp(ticket->keys[each], "root") == 0 && strcmp(ticket->values[each], at + 1) == 0 &&
                    !is_frozen(ticket, at + 1);
        if (!found) return false;
    }
    return true;
}

void doubt(const char *list, size_t size) {
    for (size_t at = 0; at < count_known; at++)
        if (lists(list, size, 'R', known[at].path) && !lists(list, size, 'K', known[at].path)) known[at].doubted = true;
}

/* ---------------------------------------------------------------- after the run */

static int quarantine;
static struct bytes *receipt;
static unsigned moved;

static void report(const char *key) {
    add_field(receipt, key);
    add_field(receipt, whole_path());
}

/* Change the mode of the file of this name, never of a link's target. */
static bool open_mode(int folder, const char *name, int flags, mode_t mode) {
    char self[64];
    int handle = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC | flags);
    struct stat status;
    snprintf(self, sizeof self, "/proc/self/fd/%d", handle);
    bool done = handle >= 0 && fstat(handle, &status) == 0 && !S_ISLNK(status.st_mode) && chmod(self, mode) == 0;
    if (handle >= 0) close(handle);
    return done;
}

/* Make a folder readable again whose mode was changed to keep us out. */
static int open_again(int folder, const char *name) {
    int below = open_below(folder, name);
    if (below >= 0 || errno != EACCES) return below;
    return open_mode(folder, name, O_DIRECTORY, 0700) ? open_below(folder, name) : -1;
}

static bool copy_file(int from_folder, const char *from, int to_folder, const char *to) {
    int source = openat(from_folder, from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (source < 0 && open_mode(from_folder, from, 0, 0600))
        source = openat(from_folder, from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int target = openat(to_folder, to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    ssize_t done = source >= 0 && target >= 0 ? 1 : -1;
    while (done > 0) done = sendfile(target, source, NULL, 1 << 30);
    if (source >= 0) close(source);
    if (target >= 0) close(target);
    return done == 0;
}

/* To another file system, where a rename is impossible. Anything but files, folders and links is dropped. */
static bool carry(int from_folder, const char *from, int to_folder, const char *to, int deep) {
    struct stat status;
    if (fstatat(from_folder, from, &status, AT_SYMLINK_NOFOLLOW) != 0) return false;
    if (S_ISDIR(status.st_mode)) {
        int source = open_again(from_folder, from);
        if (deep > DEEPEST || source < 0 || mkdirat(to_folder, to, 0700) != 0) return false;
        int target = open_below(to_folder, to);
        DIR *folder = fdopendir(source);
        bool all = target >= 0 && folder != NULL;
        for (struct dirent *entry; all && (entry = readdir(folder)) != NULL;)
            if (!is_dots(entry->d_name)) all = carry(source, entry->d_name, target, entry->d_name, deep + 1);
        if (folder != NULL) closedir(folder);
        if (target >= 0) close(target);
        return all && unlinkat(from_folder, from, AT_REMOVEDIR) == 0;
    }
    if (S_ISLNK(status.st_mode)) {
        char target[4096];
        ssize_t size = readlinkat(from_folder, from, target, sizeof target - 1);
        if (size > 0) target[size] = '\0', (void)!symlinkat(target, to_folder, to);
    } else if (S_ISREG(status.st_mode) && !copy_file(from_folder, from, to_folder, to)) {
        return false;
    }
    return unlinkat(from_folder, from, 0) == 0;
}

/* Move a forbidden path out of the workspace; if that fails, give it a name without effect. */
static void take_away(int folder, const char *name) {
    char number[32], beside[512];
    struct stat mode;
    snprintf(number, sizeof number, "%u", ++moved);
    bool closed = faccessat(folder, ".", W_OK | X_OK, AT_EACCESS) != 0 && fstat(folder, &mode) == 0;
    if (closed) fchmod(folder, 0700);
    bool gone = quarantine >= 0 && renameat(folder, name, quarantine, number) == 0;
    if (!gone && errno == EACCES && open_mode(folder, name, O_DIRECTORY, 0700))
        gone = renameat(folder, name, quarantine, number) == 0;
    if (gone) report("quarantined");
    else if (quarantine >= 0 && errno == EXDEV && carry(folder, name, quarantine, number, 0)) report("quarantined");
    else if (snprintf(beside, sizeof beside, "quarantined-%u-%.200s", moved, name) > 0 && renameat(folder, name, folder, beside) == 0)
        report("quarantined");
    else report("left");
    if (closed) fchmod(folder, mode.st_mode & 07777);
}

static const struct known *find_known(void) {
    struct known wanted = {.path = (char *)whole_path()};
    const struct known *found = bsearch(&wanted, known, count_known, sizeof *known, compare_known);
    return found == NULL || found->doubted ? NULL : found;
}

/* A link cannot be a mount, so it is compared, and recreated. */
static void check_link(int folder, const char *name, const struct known *before) {
    char target[4096];
    ssize_t size = readlinkat(folder, name, target, sizeof target - 1);
    target[size > 0 ? size : 0] = '\0';
    if (strcmp(target, before->target) == 0) return;
    take_away(folder, name);
    (void)!symlinkat(before->target, folder, name);
}

/* Files in git's own folder that it would write through, or wait for. */
static void take_links(int above, const char *name, unsigned char type, size_t length, size_t depth) {
    const struct known *before = type == DT_LNK ? find_known() : NULL;
    if (before != NULL && before->target != NULL) {
        check_link(above, name, before);
        return;
    }
    if (type == DT_REG) return;
    if (type != DT_DIR || depth >= DEEPEST) {
        take_away(above, name);
        return;
    }
    int handle = is_object_folder(name) ? -1 : open_again(above, name);
    DIR *folder = handle >= 0 ? fdopendir(handle) : NULL;
    if (folder == NULL) return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL; leave(length)) {
        size_t longer = length;
        if (is_dots(entry->d_name)) continue;
        if (enter(&longer, entry->d_name)) take_links(handle, entry->d_name, type_of(handle, entry), longer, depth + 1);
        else take_away(handle, entry->d_name);
    }
    closedir(folder);
}

static void look_again(int handle, size_t length, size_t depth, bool fresh);

/* In existing installed code only the caches were writable. */
static void look_into_caches(int folder, const char *name, size_t length, size_t depth) {
    int installed = open_below(folder, name);
    for (size_t at = 0; installed >= 0 && at < caches->count; at++, leave(length)) {
        size_t longer = length;
        if (strcmp(caches->keys[at], "cache") != 0 || !enter(&longer, caches->values[at])) continue;
        int below = open_again(installed, caches->values[at]);
        if (below >= 0) look_again(below, longer, depth + 2, true);
    }
    if (installed >= 0) close(installed);
}

/* `fresh`: the folder was not there before. */
static void look_again(int handle, size_t length, size_t depth, bool fresh) {
    DIR *folder = fdopendir(handle);
    if (folder == NULL) {
        report("left");
        not_complete();
        close(handle);
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder)) != NULL; leave(length)) {
        if (is_dots(entry->d_name)) continue;
        size_t longer = length;
        unsigned char type = type_of(handle, entry);
        if (!enter(&longer, entry->d_name)) {
            take_away(handle, entry->d_name);
            continue;
        }
        enum effect effect = effect_on(path, type == DT_DIR);
        if (effect == IGNORE) {
            not_complete();
            continue;
        }
        const struct known *before = effect == NOTHING && type != DT_DIR ? NULL : find_known();
        if (before != NULL && before->target != NULL) check_link(handle, entry->d_name, before);
        if (effect == OPEN && before == NULL) take_links(handle, entry->d_name, type, longer, depth);
        if (before != NULL && before->installed) look_into_caches(handle, entry->d_name, longer, depth);
        if (before != NULL || effect == OPEN) continue;
        if (effect != NOTHING && effect != INSTALLED) {
            take_away(handle, entry->d_name);
            continue;
        }
        if (type != DT_DIR) {
            note_file(handle, entry->d_name, whole_path(), fresh, receipt);
            continue;
        }
        int below = depth < DEEPEST ? open_again(handle, entry->d_name) : -1;
        bool same = below >= 0 && !fresh && note_folder(below, whole_path(), entry->d_ino, receipt);
        if (!same) note_file(handle, entry->d_name, whole_path(), true, receipt);
        if (below >= 0) look_again(below, longer, depth + 1, !same);
        else if (depth >= DEEPEST) take_away(handle, entry->d_name); /* nothing was that deep before */
        else not_complete();
    }
    closedir(folder);
}

/* Restore a link that was removed and not replaced. The folders above it are mounts of its own run, but another run may
   have put a link there. */
static void restore_links(void) {
    for (size_t at = 0; at < count_known; at++) {
        if (known[at].target == NULL || known[at].doubted) continue;
        char *name = strrchr(known[at].path, '/');
        struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
        *name = '\0';
        int above = (int)syscall(SYS_openat2, AT_FDCWD, known[at].path, &how, sizeof how);
        if (above >= 0) (void)!symlinkat(known[at].target, above, name + 1), close(above);
    }
}

void look_after(const struct ticket *ticket, int place, struct bytes *into) {
    quarantine = place, receipt = into;
    for (size_t at = 0; at < ticket->count; at++) {
        if (strcmp(ticket->keys[at], "root") != 0) continue;
        if (is_frozen(ticket, ticket->values[at])) continue;
        int handle = open_root(ticket, ticket->values[at]);
        if (handle < 0 && errno == EACCES && open_mode(AT_FDCWD, root, O_DIRECTORY, 0700)) handle = open_root(ticket, root);
        if (handle >= 0) look_again(handle, 0, 1, !note_folder(handle, root, 0, receipt));
        else report("left"), not_complete();
    }
    restore_links();
    end_changes(receipt);
    if (quarantine >= 0) close(quarantine);
}
