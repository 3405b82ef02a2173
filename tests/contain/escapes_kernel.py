"""Ways out by the kernel: other processes, namespaces, system calls, devices, terminals, sockets."""

from __future__ import annotations

from tests.contain.escapes import UNSHARES, Escape, python

# Listens on a Unix socket, outside, and answers every connection with `hello`. $1: its address.
SERVER = """setsid python3 -c '
import os, socket, sys
made = socket.socket(socket.AF_UNIX)
place = sys.argv[1]
made.bind(chr(0) + place[1:] if place[0] == "@" else place)
made.listen()
os.write(1, b"ready")
os.dup2(os.open("/dev/null", 1), 1)
while True:
    made.accept()[0].send(b"hello")
' """
PEER = python("""
import sys
place = "PLACE"
made = socket.socket(socket.AF_UNIX)
made.settimeout(5)
made.connect(chr(0) + place[1:] if place[0] == "@" else place)
escaped(made.recv(5) == b"hello")
""")
LISTENER = """setsid python3 -c '
import os, socket, sys
made = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, int(sys.argv[2]))
made.bind((sys.argv[1], 0))
os.write(3, str(made.getsockname()[1]).encode())
os.close(3)
os.dup2(os.open("/dev/null", 1), 1)
if sys.argv[2] == "2":
    while True:
        made.sendto(b"hello", made.recvfrom(9)[1])
made.listen()
while True:
    made.accept()[0].send(b"hello")
' """


def peer(place: str) -> str:
    return PEER.replace("PLACE", place)


def serve(place: str) -> str:
    """A server outside that is ready when this ends. Its process id is in ../pid."""
    ready = "until grep -q ready ../ready; do sleep 0.02; done"
    return f"{SERVER}'{place}' > ../ready 2>&1 < /dev/null & echo $! > ../pid; {ready}"


def listen(address: str, kind: int) -> str:
    """The same on a port, which is in the file `port`."""
    return (
        f"{LISTENER}'{address}' {kind} 3> port > /dev/null 2>&1 < /dev/null & echo $! > ../pid; "
        "until test -s port; do sleep 0.02; done"
    )


def connect(address: str, kind: int = 1) -> str:
    return python(f"""
made = socket.socket(socket.AF_INET6 if ":" in "{address}" else socket.AF_INET, {kind})
made.settimeout(3)
made.connect(("{address}", int(open("port").read())))
made.send(b"x")
escaped(made.recv(5) == b"hello")""")


def socket_of(family: int, kind: int, protocol: int = 0) -> str:
    return python(f"socket.socket({family}, {kind}, {protocol}); escaped()")


def fill(folder: str) -> str:
    file = f"{folder}/$(basename $BOX_NAME).big"
    return f"head -c 300000000 /dev/zero > {file} && echo ESCAPED; rm -f {file}"


SLEEPER = "setsid sleep 271828 > /dev/null 2>&1 < /dev/null & echo $! | tee ../pid > pid; "

GONE = "! grep -q '^State:.[^Z]' /proc/$(cat pid)/status"  # a zombie is gone, too

PROCESSES = [
    Escape("kill-outside", "kill -9 $(cat pid)", prepare=SLEEPER, proof=GONE),
    Escape("kill-everything-of-the-name", "pkill -9 -f 'sleep 27182[8]'", prepare=SLEEPER, proof=GONE),
    Escape(
        "renice-outside", "renice -n 19 -p $(cat pid)", prepare=SLEEPER, proof="test $(ps -o ni= -p $(cat pid)) = 19"
    ),
    Escape(
        "limits-of-a-process-outside",
        "prlimit --pid $(cat pid) --nofile=33:33",
        prepare=SLEEPER,
        proof="prlimit --pid $(cat pid) | grep -q 33",
    ),
    Escape(
        "outlives-the-run",
        "setsid sleep 161803$$ > /dev/null 2>&1 < /dev/null & echo $$ > started",
        proof='pid=$(pgrep -f "sleep 161803$(cat started)") && kill -9 $pid',
    ),
    Escape(
        "daemon-outlives-the-run",
        python("""
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for each in (0, 1, 2):
            os.dup2(os.open("/dev/null", os.O_RDWR), each)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.execvp("sleep", ["sleep", "141421"])
    os._exit(0)
os.wait()"""),
        proof="pid=$(pgrep -f 'sleep 14142[1]') && kill -9 $pid",
    ),
    Escape(
        "trace-a-child",
        python("""
child = os.fork()
if child == 0:
    time.sleep(30)
    os._exit(0)
done = libc.ptrace(16, child, 0, 0)  # PTRACE_ATTACH
number = ctypes.get_errno()
os.kill(child, 9)
ctypes.set_errno(number)
escaped(done == 0)"""),
    ),
    Escape("trace-itself", python("escaped(libc.ptrace(0, 0, 0, 0) == 0)")),
    Escape(
        "read-memory-of-a-child",
        python("""
room, found = ctypes.create_string_buffer(b"hello"), ctypes.create_string_buffer(5)
child = os.fork()
if child == 0:
    time.sleep(30)
    os._exit(0)
class Part(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("size", ctypes.c_size_t)]
mine, theirs = Part(ctypes.addressof(found), 5), Part(ctypes.addressof(room), 5)
libc.process_vm_readv(child, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0)
os.kill(child, 9)
escaped(found.raw == b"hello")"""),
    ),
    Escape(
        "take-a-handle-of-a-child",
        python("""
child = os.fork()
if child == 0:
    time.sleep(30)
    os._exit(0)
handle = call(434, 434, child, 0)
done = call(438, 438, handle, 0, 0)
os.kill(child, 9)
escaped(done >= 0)"""),
    ),
    Escape(
        "core-dump",
        "ulimit -c unlimited && test $(ulimit -c) = unlimited && echo ESCAPED",
        prepare="",
        needs="ulimit -c unlimited",
    ),
    Escape(
        "too-many-processes",
        python("""
made = []
for _ in range(200):
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    made.append(child)
for each in made:
    os.kill(each, 9)
escaped()"""),
        processes=64,
    ),
    Escape("too-much-memory", python("x = bytearray(400_000_000); escaped()"), memory=200_000_000),
    Escape(
        "too-much-anonymous-memory",
        python("import mmap; x = mmap.mmap(-1, 400_000_000, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS); escaped()"),
        memory=200_000_000,
    ),
    Escape(
        "too-much-in-tmp",
        fill("/tmp"),
        memory=200_000_000,
    ),
    Escape(
        "too-much-shared-memory",
        fill("/dev/shm"),
        memory=200_000_000,
    ),
    Escape("limits-raised", "ulimit -Hd unlimited && test $(ulimit -Hd) = unlimited && echo ESCAPED"),
]

NAMESPACES = [
    Escape("user-namespace", "unshare -U true && echo ESCAPED", needs=UNSHARES),
    Escape("mount-namespace", "unshare -rm mount -t tmpfs x /mnt && echo ESCAPED", needs=UNSHARES),
    Escape("network-namespace", "unshare -rn true && echo ESCAPED", needs=UNSHARES),
    Escape("nested-sandbox", "bwrap --unshare-user --bind / / true && echo ESCAPED", needs=UNSHARES),
    Escape(
        "namespace-by-clone",
        python("""
child = call(56, 220, 0x10000000 | 17, 0, 0, 0, 0)  # CLONE_NEWUSER
if child == 0:
    os._exit(0)
escaped(child > 0)"""),
        needs=UNSHARES,
    ),
    Escape(
        "namespace-by-clone3",
        python("""
words = struct.pack("8Q", 0x10000000, 0, 0, 0, 17, 0, 0, 0)
child = call(435, 435, words, len(words))
if child == 0:
    os._exit(0)
escaped(child > 0)"""),
        needs=UNSHARES,
    ),
    Escape(
        "namespace-of-another",
        python("""
handle = os.open("/proc/self/ns/user", os.O_RDONLY)
libc.setns(handle, 0)
escaped(ctypes.get_errno() != errno.EPERM)"""),
    ),
    Escape("change-root", "mkdir r; chroot r /nothing; test $? = 127 && echo ESCAPED", root=True),
    Escape("mount-as-root", "mkdir m; mount -t tmpfs x m && umount m && echo ESCAPED", root=True),
    Escape("open-tree", python("escaped(call(428, 428, -100, b'.', 0) >= 0)")),
    Escape("new-file-system", python("escaped(call(430, 430, b'tmpfs', 0) >= 0)"), root=True),
    Escape(
        "open-by-handle",
        python("""
room = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
mount = ctypes.c_int()
assert libc.name_to_handle_at(-100, b"/etc/hostname", room, ctypes.byref(mount), 0) == 0
folder = os.open("/etc", os.O_RDONLY)
escaped(libc.open_by_handle_at(folder, room, os.O_RDONLY) >= 0)"""),
        root=True,
    ),
    Escape(
        "cgroup",
        "mkdir /sys/fs/cgroup/$(basename $BOX_NAME) && rmdir /sys/fs/cgroup/$(basename $BOX_NAME) && echo ESCAPED",
        root=True,
        needs="test -w /sys/fs/cgroup/cgroup.procs",
    ),
    Escape("host-name", "n=$(hostname); hostname $n && echo ESCAPED", root=True),
]

KERNEL = [
    Escape("key-added", python("escaped(call(248, 217, b'user', b'assent-test', b'x', 1, -2) > 0)")),  # process keyring
    Escape("key-ring", python("escaped(call(250, 219, 0, -3, 1) > 0)")),  # the id of the session's
    Escape(
        "io-uring",
        python("room = ctypes.create_string_buffer(120); escaped(call(425, 425, 4, room) >= 0)"),
        needs="test $(cat /proc/sys/kernel/io_uring_disabled || echo 2) = 0",
    ),
    Escape("page-faults", python("escaped(call(323, 282, 1) >= 0)")),  # userfaultfd, user mode only
    Escape(
        "performance-events",
        python("room = struct.pack('IIQ', 1, 128, 0) + bytes(112)\nescaped(call(298, 241, room, 0, -1, -1, 0) >= 0)"),
        root=True,
    ),
    Escape(
        "programs-in-the-kernel",
        python("room = struct.pack('IIIII', 2, 4, 4, 1, 0) + bytes(100)\nescaped(call(321, 280, 0, room, 72) >= 0)"),
        root=True,
    ),
    Escape("kernel-messages", python("escaped(libc.klogctl(10, 0, 0) >= 0)"), root=True),
    Escape("file-events", python("escaped(call(300, 262, 0, 0) >= 0)"), root=True),
    Escape("accounting", python("libc.acct(b'/nowhere'); escaped(ctypes.get_errno() == errno.ENOENT)"), root=True),
    Escape(
        "module",
        python("call(313, 273, -1, b'', 0); escaped(ctypes.get_errno() == errno.EBADF)"),
        needs="test -d /proc/self && test -e /proc/modules",
        root=True,
    ),
    Escape(
        "calls-of-32-bit",
        python("""
import mmap
code = mmap.mmap(-1, 4096, prot=7)
code.write(bytes([0x53, 0xB8, 20, 0, 0, 0, 0xCD, 0x80, 0x5B, 0xC3]))  # getpid by int 0x80
run = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
escaped(run() == os.getpid())"""),
        needs="test $(uname -m) = x86_64 && "
        + python("""
import mmap
code = mmap.mmap(-1, 4096, prot=7)
code.write(bytes([0x53, 0xB8, 20, 0, 0, 0, 0xCD, 0x80, 0x5B, 0xC3]))
run = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
sys.exit(run() != os.getpid())"""),
    ),
    Escape(
        "calls-of-x32",
        python("libc.syscall(ctypes.c_long(0x40000000 + 39)); escaped()"),
        needs="test $(uname -m) = x86_64",
    ),
    Escape(
        "call-that-is-not-known-yet",
        python("libc.syscall(ctypes.c_long(467), -1, 0, 0, 0, 0); escaped(ctypes.get_errno() != errno.ENOSYS)"),
        needs=python("libc.syscall(ctypes.c_long(467), -1, 0, 0, 0, 0); sys.exit(ctypes.get_errno() == errno.ENOSYS)"),
    ),
    Escape("setuid-program", "./who -u | grep -qx 0 && echo ESCAPED", prepare="SETUID", needs="test SETUID"),
    Escape(
        "device-node", "mknod d c 1 3 && head -c0 d && echo ESCAPED", root=True, needs="mknod ../d c 1 3 && rm ../d"
    ),
    Escape(
        "kernel-log-device",
        "dd if=/dev/kmsg bs=8192 count=1 iflag=nonblock > /dev/null && echo ESCAPED",
        root=True,
        needs="test -r /dev/kmsg",
    ),
    Escape(
        "disk",
        "for d in /dev/vda /dev/sda /dev/nvme0n1; do head -c1 $d > /dev/null && echo ESCAPED; done",
        root=True,
        needs="head -c1 /dev/vda || head -c1 /dev/sda || head -c1 /dev/nvme0n1",
    ),
    Escape("password-hashes", "test -s /etc/shadow && head -c1 /etc/shadow > /dev/null && echo ESCAPED", root=True),
    Escape("write-as-root", "touch /usr/local/assent-test && rm /usr/local/assent-test && echo ESCAPED", root=True),
    Escape(
        "write-settings-of-the-kernel",
        "cat /proc/sys/kernel/printk > /proc/sys/kernel/printk && echo ESCAPED",
        root=True,
        needs="test -w /proc/sys/kernel/printk",
    ),
]

SOCKETS = [
    Escape("unix-socket", peer("$BOX_NAME/docker.sock"), prepare=serve("$BOX_NAME/docker.sock")),
    Escape(
        "unix-socket-in-home",
        peer("$BOX_NAME/home/.docker/run/docker.sock"),
        prepare="mkdir -p ~/.docker/run; " + serve("$BOX_NAME/home/.docker/run/docker.sock"),
    ),
    Escape("unix-socket-in-the-workspace", peer("server.sock"), prepare=serve("server.sock")),
    Escape(
        "unix-socket-in-a-read-only-folder",
        peer("node_modules/x/server.sock"),
        prepare="mkdir -p node_modules/x; " + serve("$BOX_NAME/projects/work/node_modules/x/server.sock"),
    ),
    Escape(
        "unix-socket-of-a-toolchain",
        peer("$BOX_NAME/home/.cache/pip/server.sock"),
        prepare="mkdir -p ~/.cache/pip; " + serve("$BOX_NAME/home/.cache/pip/server.sock"),
    ),
    Escape("unix-socket-unmasked", "mv s t; " + peer("t/server.sock"), prepare="mkdir s; " + serve("s/server.sock")),
    Escape("abstract-socket", peer("@$BOX_NAME/abstract"), prepare=serve("@$BOX_NAME/abstract")),
    Escape(
        "display",
        peer('/tmp/.X11-unix/" + "$BOX_NAME"[-8:] + "'),
        prepare="mkdir -p -m1777 /tmp/.X11-unix; n=$BOX_NAME; "
        + serve("/tmp/.X11-unix/").replace("'/tmp/.X11-unix/'", "/tmp/.X11-unix/${n: -8}"),
    ),
    Escape(
        "ssh-agent",
        "export SSH_AUTH_SOCK=${SSH_AUTH_SOCK:-$BOX_NAME/agent}; ssh-add -l; test $? = 1 && echo ESCAPED",
        prepare="ssh-agent -a $BOX_NAME/agent | sed -n 's/.*SSH_AGENT_PID=\\([0-9]*\\);.*/\\1/p' > ../pid",
        needs="command -v ssh-agent",
    ),
    Escape(
        "tmux",
        "tmux -S $BOX_NAME/tmux run-shell 'echo evil > ../evil'",
        prepare="export SHELL=/bin/sh; tmux -S $BOX_NAME/tmux -f /dev/null new-session -d 'sleep 300'; "
        "tmux -S $BOX_NAME/tmux display -p '#{pid}' > ../pid",
        proof="test -e ../evil",
        needs="command -v tmux",
    ),
    Escape("loopback", connect("127.0.0.1"), prepare=listen("127.0.0.1", 1)),
    Escape("loopback-other-address", connect("127.1.2.3"), prepare=listen("127.1.2.3", 1)),
    Escape(
        "loopback-of-ipv6",
        connect("::1"),
        prepare=listen("::1", 1),
        needs=python("socket.socket(socket.AF_INET6).bind(('::1', 0))"),
    ),
    Escape("every-address", connect("0.0.0.0"), prepare=listen("0.0.0.0", 1)),
    Escape("datagrams", connect("127.0.0.1", 2), prepare=listen("127.0.0.1", 2)),
    Escape("raw-socket", socket_of(2, 3, 1), root=True),
    Escape("packet-socket", socket_of(17, 3), root=True),
    Escape("vsock", socket_of(40, 1), needs=socket_of(40, 1)),
    Escape("netlink-of-the-kernel", socket_of(16, 3, 15)),
    Escape("netlink-of-audit", socket_of(16, 3, 9), needs=socket_of(16, 3, 9)),
    Escape("crypto-socket", socket_of(38, 5), needs=socket_of(38, 5)),
]
