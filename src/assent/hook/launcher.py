"""How agent programs start the hook: a small script in Assent's folder, run by an interpreter that sees nothing else.

The one place that knows the words of that command. Puts nothing into anybody's settings."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

from assent.contract import StoreError
from assent.hook.settings_file import public_folder
from assent.state.files import replace, state_folder

FOLDER, NAME, ASKING = "bin", "assent", "assent-ask"
MANAGED = "/etc/assent"  # where it stands for everybody on the machine
# No environment variables, no folder of the call, no site-packages: nothing that an agent can put a module into. And
# names of files in UTF-8, whatever the locale says: in another one a link by such a name would not be seen.
FLAGS = "-ISXutf8"
SCRIPT = """\
# Assent's launcher: written by `assent install`, started by agent programs before each tool call.
import _imp
import _signal
import gc
import marshal
import os
import sys

gc.disable()  # a process that answers once leaves nothing to collect
sys.path.insert(0, {package!r})
path, deciding = {bundle!r} + str(sys.implementation.cache_tag), None
try:  # its modules from one file: of this interpreter and this place, and of nobody but this user or root
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    owner, head = os.fstat(handle), (sys.version + path).encode()
    if handle <= 2:  # in the place of a standard one that is closed
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
    if not launched.DECIDING:  # the answer has been given: nothing may hold it back for long
        _signal.signal(_signal.SIGALRM, lambda *_: os._exit(status))
        _signal.alarm({patience})
        from assent.hook import renewal

        renewal.renew(path)
except BaseException:
    pass
os._exit(status)
"""
# Where the environment that Assent was installed in has been removed, and its hook has not.
GONE = (
    "Assent is gone from `{}`: install it again and run `assent install`, or remove its hook from this program's "
    "settings; until then every call is blocked\n"
)
# And the tag of the interpreter. A file of another form needs another name: launchers that stand somewhere stay there.
BUNDLE = "assent/__pycache__/hook."
NUMBER = 8  # bytes, of a number in it
PATIENCE = 10  # seconds for making it


def path(state: str) -> str:
    return os.path.join(state, FOLDER, NAME)


def asking(state: str) -> str:
    return os.path.join(state, FOLDER, ASKING)


def package() -> str:
    """The folder that Assent is imported from."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def interpreter() -> str:
    """This Python itself, not the link to it in a virtual environment."""
    return os.path.realpath(sys.executable)


def libraries() -> list[str]:
    """Where the packages are that only some calls need, if they are not beside Assent."""
    found = find_spec("httpx")
    folder = os.path.dirname(os.path.dirname(found.origin)) if found is not None and found.origin else ""
    return [folder] if folder and folder != package() else []


def bundle() -> str:
    """Where the hook's modules are in one file, for this interpreter. `bundle.py` makes it."""
    return os.path.join(package(), f"{BUNDLE}{sys.implementation.cache_tag}")


def head() -> bytes:
    """What that file begins with: it is for one interpreter, and a copy of it somewhere else is none."""
    return (sys.version + bundle()).encode()


def script() -> str:
    found = os.path.join(package(), BUNDLE)
    places = {"package": package(), "bundle": found, "libraries": libraries(), "gone": GONE.format(package())}
    return SCRIPT.format(**places, number=NUMBER, patience=PATIENCE)


def launcher(state: str, runtime: str, *, socket: str, deadline: int, project: str = "") -> tuple[str, ...]:
    """The words that start the hook. For one user nothing in them depends on an environment; for everybody the folder
    and the socket are those of whoever runs the program."""
    where = ("--project", project) if project else ()
    times = ("--deadline", str(deadline))
    words = (interpreter(), FLAGS, path(state), "hook", runtime)
    own = () if state == MANAGED else ("--home", state, "--socket", socket)
    return (*words, *own, *where, *times)


def write(state: str, asked: str = "") -> None:
    """Put the script in its place, and the asking program beside it where there is one."""
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
    """A folder of the whole machine, with the one above it that is ours too."""
    try:
        public_folder(os.path.dirname(folder))
        public_folder(folder)
    except OSError as error:
        raise StoreError(f"`{folder}` cannot be made: {error.strerror}; run it as root") from None
