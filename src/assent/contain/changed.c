/* Which files a run changed, for its receipt.

   Programs cannot prevent the kernel from setting a file's change time, so a file older than the run is unchanged.
   Folders and the names in them are listed before: everything in a new folder is new, however old it looks, and a
   missing name was removed. If any of that is uncertain, the list is incomplete. */

#define _GNU_SOURCE
#include "runner.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

static struct seen {
    char *path;
    ino_t number;
    bool visited;       /* after the run: it exists, and is the same */
    struct bytes names; /* names in it, each ended by NUL */
} *seen;
static size_t count_seen, count_changed;
static struct timespec began, running; /* by the clock of files, and by one that cannot be set */
static bool complete = true;

/* File systems known to set the change time with every change, by the clock of this machine. Not tmpfs, where writes to
   a mapped file may go unnoticed, and so not overlay, which may be on it. */
static const unsigned long LOCAL[] = {
    0xEF53 /* ext */, 0x58465342 /* xfs */, 0x9123683E /* btrfs */, 0xF2F52010 /* f2fs */, 0xca451a4e /* bcachefs */,
};

static bool is_local(int folder) {
    struct statfs found;
    if (fstatfs(folder, &found) != 0) return false;
    for (size_t at = 0; at < COUNT(LOCAL); at++)
        if ((unsigned long)(uint32_t)found.f_type == LOCAL[at]) return true;
    return false;
}

void not_complete(void) { complete = false; }

size_t see_folder(int folder, const char *path, ino_t number) {
    if (!complete || count_seen >= MOST_SEEN || !is_local(folder)) {
        complete = false;
        return NOT_SEEN;
    }
    if (seen == NULL && (seen = calloc(MOST_SEEN, sizeof *seen)) == NULL) refuse("there is no memory");
    char *kept = strdup(path);
    if (kept == NULL) refuse("there is no memory");
    seen[count_seen].path = kept, seen[count_seen].number = number;
    return count_seen++;
}

void see_name(size_t folder, const char *name) {
    if (folder != NOT_SEEN) add_field(&seen[folder].names, name);
}

static int compare_seen(const void *one, const void *other) {
    return strcmp(((const struct seen *)one)->path, ((const struct seen *)other)->path);
}

void begin_run(void) {
    if (seen != NULL) qsort(seen, count_seen, sizeof *seen, compare_seen);
    clock_gettime(CLOCK_REALTIME, &began);
    clock_gettime(CLOCK_BOOTTIME, &running);
    began.tv_sec--; /* some file systems count seconds, all are coarse */
}

static void list(struct bytes *into, const char *key, const char *path) {
    if (++count_changed > MOST_CHANGED) complete = false;
    if (!complete) return;
    add_field(into, key);
    add_field(into, path);
}

void note_file(int folder, const char *name, const char *path, bool fresh, struct bytes *into) {
    struct stat status;
    if (!complete) return;
    if (!fresh && fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_ctime < began.tv_sec) return;
    list(into, "changed", path);
}

bool note_folder(int folder, const char *path, ino_t number, struct bytes *into) {
    struct seen wanted = {.path = (char *)path};
    struct seen *found = seen == NULL ? NULL : bsearch(&wanted, seen, count_seen, sizeof *seen, compare_seen);
    struct stat status;
    if (found == NULL || found->number != number) return false;
    found->visited = true;
    if (!complete || (fstat(folder, &status) == 0 && status.st_ctime < began.tv_sec)) return true;
    for (const char *name = found->names.data; name < found->names.data + found->names.size; name += strlen(name) + 1) {
        char whole[MOST_PATH + 4096];
        if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0) continue;
        snprintf(whole, sizeof whole, "%s/%s", path, name);
        list(into, "changed", whole);
    }
    return true;
}

static int64_t milliseconds(struct timespec from, struct timespec until) {
    return (int64_t)(until.tv_sec - from.tv_sec) * 1000 + (until.tv_nsec - from.tv_nsec) / 1000000;
}

void end_changes(struct bytes *into) {
    struct timespec now, since;
    clock_gettime(CLOCK_REALTIME, &now);
    clock_gettime(CLOCK_BOOTTIME, &since);
    now.tv_sec--;
    if (milliseconds(began, now) < milliseconds(running, since) - 500) complete = false; /* the clock was set back */
    for (size_t at = 0; at < count_seen && complete; at++)
        if (!seen[at].visited) list(into, "removed", seen[at].path); /* with all its content */
    add_field(into, "complete"), add_field(into, complete ? "1" : "0");
}
