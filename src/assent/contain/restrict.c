/* Restrictions in addition to bubblewrap's: limits, Landlock if the kernel has it, system calls. */

#define _GNU_SOURCE
#include "runner.h"

#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---------------------------------------------------------------- limits */

static bool limit(int what, rlim_t most) {
    struct rlimit now;
    if (getrlimit(what, &now) != 0) return false;
    if (now.rlim_max != RLIM_INFINITY && now.rlim_max < most) most = now.rlim_max;
    now.rlim_cur = now.rlim_max = most;
    return setrlimit(what, &now) == 0;
}

const char *set_limits(const struct ticket *ticket) {
    bool right = limit(RLIMIT_DATA, (rlim_t)number_of(ticket, "memory", 1, INT64_MAX)) &&
                 limit(RLIMIT_NPROC, (rlim_t)number_of(ticket, "processes", 1, 1 << 24)) && limit(RLIMIT_CORE, 0) &&
                 limit(RLIMIT_MEMLOCK, 8 << 20) && limit(RLIMIT_MSGQUEUE, 1 << 20) && limit(RLIMIT_RTPRIO, 0);
    return right ? NULL : "the limits inside cannot be set";
}

/* ---------------------------------------------------------------- Landlock */

/* As in linux/landlock.h, which on many systems is older than the kernel. */
enum {
    WRITE_FILE = 1 << 1,
    REMOVE_AND_MAKE = 0x1ff0, /* REMOVE_DIR … MAKE_SYM */
    REFER = 1 << 13,          /* since version 2 */
    TRUNCATE = 1 << 14,       /* since version 3 */
    NO_ABSTRACT_SOCKETS_OUTSIDE = 1 << 0, NO_SIGNALS_OUTSIDE = 1 << 1, /* since version 6 */
};
#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#define __NR_landlock_add_rule 445
#define __NR_landlock_restrict_self 446
#endif

struct ruleset {
    uint64_t files, net, scoped;
};

struct __attribute__((packed)) beneath {
    uint64_t allowed;
    int32_t handle;
};

static bool open_for_writing(int rules, int handle, uint64_t rights) {
    struct stat status;
    if (handle < 0 || fstat(handle, &status) != 0) return true; /* not there: nothing to open */
    if (!S_ISDIR(status.st_mode)) rights &= WRITE_FILE | TRUNCATE;
    struct beneath rule = {.allowed = rights, .handle = handle};
    return syscall(__NR_landlock_add_rule, rules, 1 /* path beneath */, &rule, 0) == 0 || errno == EBADFD;
}

/* Writes go only below the folders of the ticket: a second check, independent of mounts. */
const char *restrict_files(const struct ticket *ticket) {
    static const char failed[] = "Landlock is there and does not work";
    long version = syscall(__NR_landlock_create_ruleset, NULL, 0, 1 /* the version */);
    if (version < 1) return NULL; /* not in this kernel, or switched off */
    struct ruleset rules = {.files = WRITE_FILE | REMOVE_AND_MAKE};
    if (version >= 2) rules.files |= REFER;
    if (version >= 3) rules.files |= TRUNCATE;
    if (version >= 6) rules.scoped = NO_ABSTRACT_SOCKETS_OUTSIDE | NO_SIGNALS_OUTSIDE;
    size_t size = version >= 6 ? sizeof rules : version >= 4 ? 16 : 8;
    if (version == 1) return NULL; /* it would forbid every move from one folder to another */
    int handle = (int)syscall(__NR_landlock_create_ruleset, &rules, size, 0);
    if (handle < 0) return failed;
    bool right = true;
    for (int at = 0; at <= STDERR_FILENO; at++) right = right && open_for_writing(handle, at, rules.files);
    for (size_t at = 0; at < ticket->count; at++) {
        if (strcmp(ticket->keys[at], "writes") != 0) continue;
        int place = open(ticket->values[at], O_PATH | O_CLOEXEC);
        right = right && open_for_writing(handle, place, rules.files);
        if (place >= 0) close(place);
    }
    right = right && syscall(__NR_landlock_restrict_self, handle, 0) == 0;
    close(handle);
    return right ? NULL : failed;
}

/* ---------------------------------------------------------------- system calls */

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define X32 0x40000000U
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "no list of system calls for this architecture"
#endif

enum { LAST_KNOWN = 466 }; /* removexattrat: later calls were not reviewed */

/* Programs do not need these, or use them only to inspect other processes, other namespaces or the kernel. */
static const int CLOSED[] = {
    /* other processes */
    __NR_ptrace, __NR_process_vm_readv, __NR_process_vm_writev, __NR_kcmp, 438 /* pidfd_getfd */,
    440 /* process_madvise */, 448 /* process_mrelease */,
    /* keys of the user */
    __NR_keyctl, __NR_add_key, __NR_request_key,
    /* mounts and namespaces */
    __NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot, __NR_setns, 428 /* open_tree */, 429 /* move_mount */,
    430 /* fsopen */, 431 /* fsconfig */, 432 /* fsmount */, 433 /* fspick */, 442 /* mount_setattr */,
    __NR_open_by_handle_at, __NR_fanotify_init, __NR_fanotify_mark,
    /* the kernel and the machine */
    __NR_bpf, __NR_perf_event_open, __NR_userfaultfd, __NR_kexec_load, __NR_init_module, __NR_finit_module,
    __NR_delete_module, __NR_reboot, __NR_swapon, __NR_swapoff, __NR_acct, __NR_syslog, __NR_quotactl,
    443 /* quotactl_fd */, __NR_settimeofday, __NR_clock_settime, __NR_sethostname, __NR_setdomainname, __NR_vhangup,
    __NR_lookup_dcookie, __NR_nfsservctl,
#ifdef __NR_kexec_file_load
    __NR_kexec_file_load,
#endif
#ifdef __x86_64__
    __NR_iopl, __NR_ioperm, __NR_modify_ldt, __NR_uselib, __NR__sysctl, __NR_create_module, __NR_get_kernel_syms,
    __NR_query_module,
#endif
};

/* As if the kernel were older: programs have another way. */
static const int UNKNOWN[] = {435 /* clone3 */, 425, 426, 427 /* io_uring */};

enum {
    NAMESPACES = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET |
                 0x02000000 /* CLONE_NEWCGROUP */ | 0x80 /* CLONE_NEWTIME */,
    ROOM = 512,
};

static struct sock_filter program[ROOM];
static unsigned short used;

static void put(uint16_t code, uint32_t value, uint8_t yes, uint8_t no) {
    if (used < ROOM) program[used++] = (struct sock_filter){.code = code, .k = value, .jt = yes, .jf = no};
}

static void load(size_t offset) { put(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0); }
static void load_argument(int at) { load(offsetof(struct seccomp_data, args) + 8 * (size_t)at); } /* its lower half */
static void load_number(void) { load(offsetof(struct seccomp_data, nr)); }
static void give(uint32_t result) { put(BPF_RET | BPF_K, result, 0, 0); }
static void skip_unless(uint32_t value, uint8_t count) { put(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count); }
static uint32_t error(int number) { return SECCOMP_RET_ERRNO | (uint32_t)number; }

static void refuse_call(int number, uint32_t result) {
    skip_unless((uint32_t)number, 1);
    give(result);
}

/* No new namespaces. The first argument has the flags. */
static void check_flags(int number) {
    skip_unless((uint32_t)number, 4);
    load_argument(0);
    put(BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 0, 1);
    give(error(EPERM));
    load_number();
}

/* A terminal cannot be typed into. The kernel reads only the lower half of the request. */
static void check_ioctl(void) {
    skip_unless(__NR_ioctl, 6);
    load_argument(1);
    skip_unless(TIOCSTI, 1);
    give(error(EPERM));
    skip_unless(0x541C /* TIOCLINUX */, 1);
    give(error(EPERM));
    load_number();
}

/* Only sockets of these families, none of them raw; of netlink only the lists of addresses and routes. */
static void check_socket(void) {
    enum { ALLOWED = 13, REFUSED = 12, KIND = 6, PROTOCOL = 10 }; /* jump targets, counted from the first line */
#define WHEN(at, value, yes, no) put(BPF_JMP | BPF_JEQ | BPF_K, value, (yes) - (at)-1, (no) - (at)-1)
    /*  0 */ skip_unless(__NR_socket, 13);
    /*  1 */ load_argument(0);
    /*  2 */ WHEN(2, AF_UNIX, ALLOWED, 3);
    /*  3 */ WHEN(3, AF_INET, KIND, 4);
    /*  4 */ WHEN(4, AF_INET6, KIND, 5);
    /*  5 */ WHEN(5, AF_NETLINK, PROTOCOL, REFUSED);
    /*  6 */ load_argument(1);
    /*  7 */ put(BPF_ALU | BPF_AND | BPF_K, 0xf, 0, 0); /* without SOCK_CLOEXEC and SOCK_NONBLOCK */
    /*  8 */ WHEN(8, SOCK_STREAM, ALLOWED, 9);
    /*  9 */ WHEN(9, SOCK_DGRAM, ALLOWED, REFUSED);
    /* 10 */ load_argument(2);
    /* 11 */ WHEN(11, 0 /* NETLINK_ROUTE */, ALLOWED, REFUSED);
    /* 12 */ give(error(EAFNOSUPPORT));
    /* 13 */ give(SECCOMP_RET_ALLOW);
#undef WHEN
}

const char *filter_calls(void) {
    used = 0;
    load(offsetof(struct seccomp_data, arch));
    put(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    give(SECCOMP_RET_KILL_PROCESS);
    load_number();
#ifdef X32
    put(BPF_JMP | BPF_JGE | BPF_K, X32, 0, 1);
    give(SECCOMP_RET_KILL_PROCESS);
#endif
    put(BPF_JMP | BPF_JGT | BPF_K, LAST_KNOWN, 0, 1);
    give(error(ENOSYS));
    for (size_t at = 0; at < COUNT(UNKNOWN); at++) refuse_call(UNKNOWN[at], error(ENOSYS));
    for (size_t at = 0; at < COUNT(CLOSED); at++) refuse_call(CLOSED[at], error(EPERM));
    check_flags(__NR_clone);
    check_flags(__NR_unshare);
    check_ioctl();
    check_socket();
    give(SECCOMP_RET_ALLOW);
    struct sock_fprog whole = {.len = used, .filter = program};
    if (used >= ROOM) return "the filter of system calls is too long";
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole) != 0) return "this kernel filters no system calls";
    return NULL;
}
