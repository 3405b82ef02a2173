"""How agent programs start the hook: a small script in Assent's folder, run by an isolated interpreter.

The only module that knows this command line. Changes no settings."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

from assent.contract import StoreError
from assent.hook.settings_file import public_folder
from assent.state.files import replace, state_folder

FOLDER, NAME, ASKING = "bin", "assent", "assent-ask"
MANAGED = "/etc/assent"  # the folder for all users of the machine
# No environment variables, no folder of the call, no site-packages: no folder in which an agent can put a module. File
# names in UTF-8, whatever the locale: with another encoding some symlinks would not be found.
FLAGS = "-ISXutf8"
SCRIPT = """\
# Assent's launcher: written by `assent install`, started by agent programs before each tool call.
import _imp
import _signal
import gc
import marshal
import os
import sys
from time import monotonic

begun = monotonic()
gc.disable()  # a process that answers once leaves nothing to collect
sys.path.insert(0, {package!r})
path, deciding = {bundle!r} + str(sys.implementation.cache_tag), None
try:  # its modules from one file: of this interpreter and this place, and of nobody but this user or root
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    owner, head = os.fstat(handle), (sys.version + path).encode()
    if handle <= 2:  # instead of a standard one that is closed
        os.close(handle)
    elif owner.st_uid in (0, os.geteuid()) and not owner.st_mode & 0o022 and os.read(handle, len(head)) == head:
        length, whole = os.read(handle, {number}), os.read(handle, {number})
        data = os.read(handle, int.from_bytes(length, "little"))
        if _imp.source_hash(0, data) == whole:
            code, *rest = marshal.loads(data)
            exec(code, space := {{"__name__": "bundled"}})
            deciding = space["start"](handle, *rest)
except Exception:
    pass  # one by one, as usual
try:
    from assent.contract import launched
    from assent.hook.hook import direct

    launched.LIBRARIES.extend({libraries!r})
    launched.DECIDING.extend(filter(None, [deciding]))
    status = direct(sys.argv[1:])
except BaseException as error:
    status = 2
    try:
        text = f"Assent could not decide: {{type(error).__name__}}: {{error}}\\n"
        if not os.path.isdir({package!r} + "/assent"):
            text = {gone!r}
        os.write(2, text.encode("utf-8", "backslashreplace"))
    except Exception:
        pass
try:
    left = int({longest} - (monotonic() - begun))  # the answer has been given: nothing may hold it back for long
    if not launched.DECIDING and left >= {least}:
        _signal.signal(_signal.SIGALRM, lambda *_: os._exit(status))
        _signal.alarm(left)
        from assent.hook.hook import renew

        renew(path)
except BaseException:
    pass
os._exit(status)
"""
# If the environment of Assent has been removed, but not its hook.
GONE = (
    "Assent is gone from `{}`: install it again and run `assent install`, or remove its hook from this program's "
    "settings; until then every call is blocked\n"
)
# Followed by the tag of the interpreter. A file of another format needs another name, since installed launchers are not
# replaced.
BUNDLE = "assent/__pycache__/hook."
NUMBER = 8  # bytes, of a number in it
# Making it takes four seconds of processor time, and several times that on a busy machine. A hook makes it only in the
# first LONGEST seconds of its process, well before any program stops waiting for it, and only if LEAST are left.
LONGEST, LEAST = 40, 10


def path(state: str) -> str:
    return os.path.join(state, FOLDER, NAME)


def asking(state: str) -> str:
    return os.path.join(state, FOLDER, ASKING)


def package() -> str:
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def interpreter() -> str:
    """This Python itself, not the link to it in a virtual environment."""
    return os.path.realpath(sys.executable)


def libraries() -> list[str]:
    """The folder of packages for some calls only, if it is not that of Assent."""
    found = find_spec("httpx")
    folder = os.path.dirname(os.path.dirname(found.origin)) if found is not None and found.origin else ""
    return [folder] if folder and folder != package() else []


def bundle() -> str:
    """The bundle of the hook's modules for this interpreter, built by `bundle.py`."""
    return os.path.join(package(), f"{BUNDLE}{sys.implementation.cache_tag}")


def head() -> bytes:
    """The first bytes of that file: it is valid for one interpreter and one path."""
    return (sys.version + bundle()).encode()


def script() -> str:
    found = os.path.join(package(), BUNDLE)
    places = {"package": package(), "bundle": found, "libraries": libraries(), "gone": GONE.format(package())}
    return SCRIPT.format(**places, number=NUMBER, longest=LONGEST, least=LEAST)


def launcher(state: str, runtime: str, *, socket: str, deadline: int, project: str = "") -> tuple[str, ...]:
    """The command that starts the hook. For one user nothing in it depends on the environment; for all users the folder
    and the socket are those of the user who runs the program."""
    where = ("--project", project) if project else ()
    own = () if state == MANAGED else ("--home", state, "--socket", socket)
    return (interpreter(), FLAGS, path(state), "hook", runtime, *own, *where, "--deadline", str(deadline))


def write(state: str, asked: str = "") -> None:
    """Write the script, and the asking program if there is one."""
    if state == MANAGED:
        mode = 0o755
        _folder(os.path.dirname(path(state)))
    else:
        mode = 0o700
        state_folder(state)
        state_folder(os.path.dirname(path(state)))
    replace(path(state), script().encode(), mode)
    if asked:
        replace(asking(state), asked.encode(), mode)


def _folder(folder: str) -> None:
    """Create a folder for all users, and the one above it."""
    try:
        public_folder(os.path.dirname(folder))
        public_folder(folder)
    except OSError as error:
        raise StoreError(f"`{folder}` cannot be created: {error.strerror}; run it as root") from None
