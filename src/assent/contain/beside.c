/* Concurrent runs. Files that appear while several runs are active may belong to any of them, so they are checked after
   all. Each run keeps a list of the names known at its start until its own check is done. If all processes of a run
   are killed before, its list stays, and the next run in the same folders does the check. */

#define _GNU_SOURCE
#include "runner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FORGOTTEN = 30 * 24 * 3600 }; /* seconds */

static int lock = -1, entry = -1;

/* From here on only this run scans a workspace. */
void lock_runs(int folder) {
    lock = openat(folder, "running/lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    int done;
    do done = lock < 0 ? -1 : flock(lock, LOCK_EX);
    while (done != 0 && errno == EINTR);
    if (done != 0) refuse("it cannot see which other runs there are");
}

void unlock_runs(void) {
    close(lock);
    lock = -1;
}

static char *list_in(int handle, size_t *size) {
    struct stat status;
    if (fstat(handle, &status) != 0 || status.st_size > MOST_TICKET) refuse("the list of another run cannot be read");
    *size = (size_t)status.st_size;
    char *data = malloc(*size + 1);
    if (data == NULL || pread(handle, data, *size, 0) != (ssize_t)*size) refuse("the list of another run cannot be read");
    data[*size] = '\0';
    return data;
}

/* Whether a run ended without a check of its changes: otherwise it has a receipt. */
static bool is_to_be_kept(int folder, int handle, const char *name) {
    char place[64];
    struct stat status;
    snprintf(place, sizeof place, "receipts/%s", name);
    if (fstatat(folder, place, &status, AT_SYMLINK_NOFOLLOW) == 0) return false;
    return fstat(handle, &status) == 0 && status.st_mtime > time(NULL) - FORGOTTEN;
}

/* Every list except this run's own. A finished run has no lock on its list. `done`: the changes of finished runs in the
   folders of this one were checked. */
static void hear_others(int folder, const struct ticket *done) {
    int place = openat(folder, "running", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *all = place >= 0 ? fdopendir(place) : NULL;
    if (all == NULL) refuse("it cannot see which other runs there are");
    for (struct dirent *each; (each = readdir(all)) != NULL;) {
        if (strlen(each->d_name) != ID_LENGTH) continue;
        int handle = openat(place, each->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (handle < 0) continue;
        size_t size;
        bool over = flock(handle, LOCK_SH | LOCK_NB) == 0, kept = !over || is_to_be_kept(folder, handle, each->d_name);
        char *list = kept ? list_in(handle, &size) : NULL;
        if (list == NULL || (over && done != NULL && covers(done, list, size))) unlinkat(place, each->d_name, 0);
        else if (done == NULL) doubt(list, size);
        free(list);
        close(handle);
    }
    closedir(all);
}

void register_run(int folder, const char *id, const struct ticket *ticket) {
    char place[64];
    struct bytes list = {0};
    hear_others(folder, NULL);
    list_known(ticket, &list);
    snprintf(place, sizeof place, "running/%s", id);
    entry = openat(folder, place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (entry < 0 || flock(entry, LOCK_EX | LOCK_NB) != 0 || !write_all(entry, list.data, list.size))
        refuse("it cannot be listed for other runs");
    free(list.data);
}

void forget_run(int folder, const char *id, const struct ticket *ticket) {
    char place[64];
    hear_others(folder, ticket);
    snprintf(place, sizeof place, "running/%s", id);
    unlinkat(folder, place, 0);
    close(entry);
}
