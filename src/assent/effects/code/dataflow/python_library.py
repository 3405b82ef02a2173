"""What the functions of Python's library and of common packages do and return, for code that is not proved."""

from __future__ import annotations

from collections.abc import Callable

from assent.contract import Pattern
from assent.effects.code.dataflow.actions import OWN, Actions
from assent.effects.code.dataflow.evaluate import CallArguments, Evaluator, Language
from assent.effects.code.dataflow.nodes import HOLE
from assent.effects.code.dataflow.text_functions import decoded, formatted
from assent.effects.code.dataflow.value import (
    DECODED,
    ENVIRONMENT,
    FETCHED,
    KEY_FILE,
    LOCAL_FILE,
    OPEN,
    TREE,
    VARIABLE,
    CodeValue,
    file_taint,
    joined,
    parent,
    some,
    text_value,
    under,
    union,
)

ACTIONS = Actions(
    """
    os.remove os.unlink os.rmdir aiofiles.os.remove aiofiles.os.unlink send2trash.send2trash: delete 0/path
    os.removedirs shutil.rmtree aioshutil.rmtree distutils.dir_util.remove_tree: delete_all 0/path
    setuptools.distutils.dir_util.remove_tree send2trash.send2trash: delete_all 0/path
    os.rename os.replace os.renames shutil.move: read 0/src; take 0/src; write 1/dst
    shutil.copy shutil.copy2 shutil.copyfile os.link os.symlink: read 0/src; write 1/dst
    shutil.copytree distutils.dir_util.copy_tree: read_all 0/src; write_all 1/dst
    os.mkdir os.makedirs os.truncate os.mkfifo os.mknod os.utime: write 0/path
    os.chmod os.chown os.lchown os.lchmod shutil.chown: mode 0/path
    os.listdir os.scandir os.stat os.lstat os.path.exists os.path.lexists os.path.isfile: list 0/path
    os.path.isdir os.path.islink os.path.getsize os.path.getmtime os.access: list 0/path
    os.walk os.fwalk: list_all 0/top
    glob.glob glob.iglob: globbed 0/pathname
    open io.open codecs.open os.fdopen aiofiles.open: open 0/file 1/mode
    gzip.open bz2.open lzma.open tarfile.open zipfile.ZipFile: open 0/filename 1/mode
    os.open: read 0/path; write 0/path
    shutil.make_archive: read_all 2/root_dir; write 0/base_name
    shutil.unpack_archive: read 0/filename; write_all 1/extract_dir
    tarfile.open().add tarfile.TarFile().add zipfile.ZipFile().write zipfile.ZipFile().writestr: packed 0
    tarfile.open().extractall zipfile.ZipFile().extractall: write_all 0/path
    ctypes.*.system: shell 0
    os.system os.popen subprocess.getoutput subprocess.getstatusoutput commands.getoutput os.popen2: shell 0/command
    asyncio.create_subprocess_shell asyncio.subprocess.create_subprocess_shell: shell 0/cmd
    subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen: start 0/args
    invoke.run fabric.run sh.bash invoke.Context().run fabric.Connection().local: shell 0
    pexpect.spawn pexpect.run pexpect.popen_spawn.PopenSpawn plumbum.local: shell 0
    asyncio.create_subprocess_exec asyncio.subprocess.create_subprocess_exec: words 0
    os.execl os.execlp os.execle os.execlpe: words 1
    os.execv os.execvp os.execve os.execvpe os.posix_spawn os.posix_spawnp: start 1
    os.spawnl os.spawnlp os.spawnle os.spawnlpe: words 2
    os.spawnv os.spawnvp os.spawnve os.spawnvpe: start 2
    pty.spawn: start 0
    sh.*: program
    plumbum.local.*: program
    plumbum.cmd.*: program
    .communicate: typed 0
    django.core.management.call_command management.call_command: program python3 manage.py
    git.Repo*.git.*: program git
    git.Git*.*: program git
    git.cmd.Git*.*: program git
    os.kill os.killpg signal.pidfd_send_signal: kill 0
    psutil.process_iter*.kill psutil.process_iter*.terminate: danger ends-others
    psutil.process_iter*.send_signal psutil.process_iter*.suspend: danger ends-others
    os.setuid os.seteuid os.setgid os.setresuid os.setreuid: root
    ctypes.*.reboot: danger power
    ctypes.*.unlink: delete 0
    ctypes.*.remove: delete 0
    cffi.*.system: shell 0
    timeit.timeit timeit.repeat timeit.Timer: eval 0/stmt
    pynput.*Listener: danger spies
    pyHook.*: danger spies
    keyboard.on_press keyboard.on_release keyboard.hook keyboard.record keyboard.read_event: danger spies
    pyxhook.HookManager evdev.InputDevice().read_loop: danger spies
    browser_cookie3.* browsercookie.*: danger prints-secret
    winreg.SetValueEx winreg.SetValue winreg.CreateKey winreg.CreateKeyEx: danger persistence
    winreg.DeleteKey winreg.DeleteValue: danger system-change
    nmap.PortScanner*.scan: danger attacks
    scapy.all.send scapy.all.sendp scapy.all.sr scapy.all.sr1 scapy.all.srp scapy.all.srloop: danger attacks
    scapy.*.send: danger attacks
    socket.gethostbyname socket.getaddrinfo socket.gethostbyname_ex: fetch 0/host
    dns.resolver.resolve dns.resolver.query dns.resolver.Resolver().resolve: fetch 0/qname
    fileinput.input fileinput.FileInput: in_place 0/files
    requests.get requests.head requests.options httpx.get httpx.head urllib.request.urlopen: send 0/url
    urllib.request.urlretrieve wget.download: fetch 0/url; write 1/filename
    urllib2.urlopen urllib.urlopen urllib3.PoolManager().urlopen: send 0/url
    urllib.request.Request: request 0/url 1
    requests.post requests.put requests.patch httpx.post httpx.put httpx.patch: send 0/url 1
    requests.request httpx.request httpx.stream requests.Session().request httpx.Client().request: request 1/url 2
    httpx.AsyncClient().request aiohttp.ClientSession().request urllib3.PoolManager().request: request 1/url 2
    requests.Session().get httpx.Client().get httpx.AsyncClient().get aiohttp.ClientSession().get: send 0/url
    requests.Session().post requests.Session().put requests.Session().patch: send 0/url 1
    requests.session().get requests.session().post requests.session().put: send 0/url 1
    httpx.Client().post httpx.Client().put httpx.Client().patch httpx.AsyncClient().post: send 0/url 1
    httpx.AsyncClient().put httpx.AsyncClient().patch aiohttp.ClientSession().post: send 0/url 1
    aiohttp.ClientSession().put aiohttp.ClientSession().patch aiohttp.request: send 0/url 1
    requests.delete httpx.delete requests.Session().delete httpx.Client().delete: destroy_there 0/url
    httpx.AsyncClient().delete aiohttp.ClientSession().delete requests.session().delete: destroy_there 0/url
    http.client.HTTPConnection http.client.HTTPSConnection httplib.HTTPConnection httplib.HTTPSConnection: fetch 0/host
    http.client.HTTPConnection().request http.client.HTTPSConnection().request: sent
    socket.create_connection socket.socket().connect socket.socket().connect_ex telnetlib.Telnet: fetch 0/address
    asyncio.open_connection ftplib.FTP ftplib.FTP_TLS smtplib.SMTP smtplib.SMTP_SSL: fetch 0/host
    imaplib.IMAP4_SSL poplib.POP3_SSL paramiko.Transport paramiko.SSHClient().connect: fetch 0/hostname
    websockets.connect websocket.create_connection websockets.sync.client.connect: fetch 0/uri
    socket.socket().send socket.socket().sendall socket.socket().sendto socket.create_connection().sendall: sent
    socket.create_connection().send websockets.connect().send websocket.create_connection().send: sent
    smtplib.SMTP().sendmail smtplib.SMTP_SSL().sendmail smtplib.SMTP().send_message: mail
    smtplib.SMTP_SSL().send_message aiosmtplib.send yagmail.SMTP().send django.core.mail.send_mail: mail
    django.core.mail.send_mass_mail django.core.mail.EmailMessage().send: mail
    yagmail.SMTP: fetch 1/host
    imaplib.IMAP4_SSL().expunge imaplib.IMAP4().expunge poplib.POP3_SSL().dele poplib.POP3().dele: destroy
    paramiko.SSHClient().exec_command fabric.Connection().run fabric.Connection().sudo: remote 0
    fabric.Group.run fabric.ThreadingGroup().run fabric.SerialGroup().run asyncssh.connect().run: remote 0
    telnetlib.Telnet().write: remote 0
    pexpect.spawn().sendline pexpect.spawn().send: shell 0
    netmiko.ConnectHandler().send_command netmiko.ConnectHandler().send_config_set spur.SshShell().run: remote 0
    ftplib.FTP().storbinary ftplib.FTP().storlines ftplib.FTP_TLS().storbinary: sent
    paramiko.SSHClient().open_sftp().put paramiko.SFTPClient().put paramiko.SFTPClient.from_transport().put: upload 0
    boto3.client().upload_file boto3.resource().Bucket().upload_file boto3.client().upload_fileobj: upload 0/Filename
    boto3.client().put_object: sent
    boto3.*.delete_*: destroy
    boto3.*.terminate_*: destroy
    boto3.*.deregister_*: destroy
    boto3.*.purge_*: destroy
    boto3.*.schedule_key_deletion: destroy
    boto3.*.delete: destroy
    boto3.*.terminate: destroy
    google.cloud.*.delete*: destroy
    google.cloud.*.drop_*: destroy
    googleapiclient.*.delete: destroy
    azure.*.delete*: destroy
    azure.*.begin_delete*: destroy
    kubernetes.*.delete_*: destroy
    docker.*.remove: destroy
    docker.*.prune: destroy
    digitalocean.*.destroy: destroy
    hcloud.*.delete: destroy
    github.*.delete: destroy
    stripe.*.delete: destroy
    stripe.*.cancel: destroy
    redis.*.flushall: destroy
    redis.*.flushdb: destroy
    pymongo.*.drop: destroy
    pymongo.*.drop_database: destroy
    pymongo.*.drop_collection: destroy
    pymongo.*.delete_many: destroy_all
    elasticsearch.*.delete: destroy
    elasticsearch.*.delete_by_query: destroy
    *.objects.all().delete: destroy database
    *.objects.exclude().delete: destroy database
    *.objects.delete: destroy database
    *.query.delete: destroy database
    *.query().delete: destroy database
    *.query.all().delete: destroy database
    *.delete().execute: destroy database
    *.control.purge: destroy
    celery.*.purge: destroy
    elasticsearch.*.delete_index: destroy
    .drop_all .drop_table .drop_tables .drop_column: destroy database
    .drop_database .drop_collection .drop_index .drop_schema .drop_keyspace: destroy database
    .delete_topics .delete_records .delete_consumer_groups .purge_queue .queue_purge .queue_delete: destroy
    .flushall .flushdb: destroy
    .delete_many .remove_many: destroy_all
    .delete_bucket .delete_table .delete_db_instance .delete_stack .delete_cluster .terminate_instances: destroy
    .delete_object .delete_objects .delete_database .delete_collection .delete_namespace .delete_volume: destroy
    .delete_dataset .delete_secret .delete_user .delete_repo .delete_snapshot .delete_topic .delete_index: destroy
    sqlite3.*.execute: sql 0
    sqlite3.*.executescript: sql 0
    sqlite3.*.executemany: sql 0
    .execute .executescript .executemany .exec_driver_sql .read_sql .run_sql .fetch .fetchrow .raw .query: sql 0
    eval exec builtins.eval builtins.exec execfile: eval 0
    builtins.compile compile: eval 0/source
    code.interact code.InteractiveInterpreter().runcode code.InteractiveInterpreter().runsource: eval 0
    types.FunctionType: eval 0
    __import__ builtins.__import__: import 0/name
    getattr builtins.getattr: lookup
    importlib.import_module runpy.run_module: load 0/name; downloaded 0
    runpy.run_path: read 0/path_name
    pickle.loads cPickle.loads dill.loads cloudpickle.loads marshal.loads jsonpickle.decode: load 0
    pickle.load cPickle.load dill.load cloudpickle.load marshal.load joblib.load torch.load shelve.open: load 0
    yaml.unsafe_load yaml.full_load: load 0/stream
    print sys.stdout.write sys.stderr.write pprint.pprint pprint.pp builtins.print rich.print click.echo: print
    logging.info logging.debug logging.warning logging.error logging.critical logger.info: print
    logging.getLogger().info logging.getLogger().debug logging.getLogger().warning logging.getLogger().error: print
    os.chdir os.fchdir contextlib.chdir: chdir
    pathlib.Path().unlink pathlib.Path().rmdir: delete self
    .unlink .rmdir: delete self
    .rmtree .remove_tree: delete_all self
    /unlink /rmdir: delete self
    /rmtree /remove_p /removedirs_p: delete_all self
    /write_text /write_bytes /touch /mkdir /symlink_to /hardlink_to: write self
    /rename /move /move_into: read self; take self; write 0/target
    /replace: replaced 0/target
    /copy /copy_into: read self; write 0/target
    /chmod /lchmod: mode self
    /read_text /read_bytes: read self
    /iterdir /exists /is_file /is_dir /is_symlink /stat /lstat /glob: list self
    /rglob /walk: list_all self
    /open: open self 0/mode
    """
)
_SAME = frozenset(
    """str os.fspath os.path.abspath os.path.realpath os.path.normpath pathlib.PosixPath repr shlex.quote shlex.split
    textwrap.dedent bytes compile asyncio.run asyncio.gather iter next text sqlalchemy.text builtins.str io.BytesIO
    io.StringIO builtins.compile json.dumps psycopg2.sql.SQL psycopg.sql.SQL
    os.path.normcase inspect.cleandoc""".split()
)
_LISTS = frozenset("vars sorted list tuple set reversed frozenset iter filter tqdm.tqdm tqdm itertools.chain".split())
_PATHS = frozenset({"pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath", "pathlib.PurePosixPath", "path.Path"})
_FETCHING = Pattern(
    r"(?:requests|httpx|aiohttp|urllib\.request|urllib2|urllib3|http\.client|socket|websockets?)\b.*\b(?:get|post|put|request"
    r"|urlopen|recv|recvfrom|read|makefile|getresponse|send|stream|json|text|content)"
)
_DECODING = Pattern(
    r"base64\.\w*decode\w*|binascii\.(?:unhexlify|a2b_\w+)|codecs\.(?:decode|escape_decode)|bytes\.fromhex|zlib\.decompress"
    r"|gzip\.decompress|bz2\.decompress|lzma\.decompress|marshal\.loads|cryptography\..*decrypt"
)
_KEEPS = frozenset("strip rstrip lstrip resolve absolute as_posix encode decode splitlines read __str__ seek".split())
_REQUESTS = frozenset({"flask.request", "bottle.request", "quart.request", "sanic.request"})
_SECRETS = {"keyring.get_password": VARIABLE, "keyring.get_credential": VARIABLE, "pyperclip.paste": LOCAL_FILE}
_TEMPORARY = frozenset(
    """tempfile.mkdtemp tempfile.mktemp tempfile.TemporaryDirectory tempfile.NamedTemporaryFile tempfile.mkstemp
    tempfile.SpooledTemporaryFile""".split()
)


class PythonLanguage(Language):
    __slots__ = ()
    environments = frozenset({"os.environ", "os.environb"})
    selves = frozenset({"self", "cls"})

    def canonical(self, ref: str) -> str:
        for first, known in (("posixpath", "os.path"), ("ntpath", "os.path"), ("posix", "os"), ("nt", "os")):
            if ref == first or ref.startswith(first + "."):
                return known + ref[len(first) :]
        for first in ("sys.modules.", "globals().", "locals().", "builtins.", "__builtins__."):
            ref = ref.removeprefix(first)
        return ref.replace(".__dict__", "") if "__dict__" in ref else ref

    def constant(self, ref: str) -> CodeValue | None:
        if ref == "__file__":
            return under([self.place("folder"), text_value(OPEN.texts[0] if not self.folder else "script.py")])
        if ref in self.environments:
            return CodeValue((), (ref,), taint=ENVIRONMENT)
        if ref in _REQUESTS:
            return CodeValue((), (ref,), taint=FETCHED)
        return _CONSTANTS.get(ref)

    def result(self, ref: str, given: CallArguments, values: Evaluator) -> CodeValue | None:
        first = given.items[0] if given.items else None
        if ref in _SAME:
            named = given.named.get("args") or given.named.get("source")
            found = first if first is not None else named
            if found is not None and found.path and ref in ("str", "os.fspath", "repr"):
                return CodeValue(found.texts, taint=found.taint, glob=found.glob, deep=found.deep)
            return found
        if ref in _LISTS and first is not None:
            if ref != "filter":
                return first
            items = given.items[-1].items
            return CodeValue((), (), tuple(map(some, items)) if items is not None else (OPEN,), taint=given.taint())
        if ref in _PATHS:
            return under(given.items) if given.items else text_value(".", path=True)
        if ref in _TEMPORARY:
            made = text_value(OWN, path=True)
            return CodeValue((), (), (OPEN, made)) if ref == "tempfile.mkstemp" else made
        if ref in _RESULTS:
            return _RESULTS[ref](self, given, values)
        if ref.startswith(("subprocess.", "asyncio.create_subprocess", "asyncio.subprocess.")):
            return CodeValue((), (f"{ref}()",))  # the output of a program is not tainted by its input
        environment, _, method = ref.rpartition(".")
        if environment in self.environments:
            if method in ("get", "pop", "setdefault"):
                return self.variable(first, given.at(1, "default"))
            return OPEN if method in ("keys", "update", "clear") else OPEN.tainted(ENVIRONMENT)
        if _DECODING.fullmatch(ref):
            text = first.text if first is not None else None
            known = decoded(ref, text) if text is not None else None
            return CodeValue((known if known is not None else HOLE,), taint=given.taint() | DECODED)
        if ref in _SECRETS or ref.startswith(("browser_cookie3.", "browsercookie.")):
            return CodeValue((HOLE,), (f"{ref}()",), taint=_SECRETS.get(ref, KEY_FILE))
        if _FETCHING.match(ref):
            return CodeValue((), (f"{ref}()",), taint=FETCHED)
        return self.method(method, given, values) if ref.endswith((".format", ".join")) else None

    def method(self, name: str, given: CallArguments, values: Evaluator) -> CodeValue | None:
        owner = given.owner
        if name == "join" and given.items:
            parts = given.items[0].items
            if parts is None:
                return OPEN.tainted(given.taint())
            between = owner.text
            return joined(list(parts), between=between) if between is not None else OPEN.tainted(given.taint())
        if name == "format":
            return union([formatted(text, given) for text in owner.texts or (HOLE,)])
        if name in _KEEPS and not (name == "splitlines" and owner.text is not None):
            return owner
        if name in ("recv", "recvfrom", "recv_into"):
            return OPEN.tainted(FETCHED)
        if name == "expanduser":
            return _expanded(self, CallArguments([owner], {}, owner, given.call), values)
        if owner.path and name in ("joinpath", "with_name", "with_suffix"):
            return under([parent(owner) if name == "with_name" else owner, *given.items])
        if owner.path and name in ("iterdir", "glob", "rglob", "walk"):
            deep = name in ("rglob", "walk") or any("**" in text for item in given.items for text in item.texts)
            if deep and (ends := _endings(given)):
                found = under([owner, CodeValue(ends)])
                return CodeValue(found.texts, taint=found.taint, glob=True, deep=owner.deep, path=True)
            found = under([owner, given.items[0] if given.items and not deep else text_value("*")])
            return CodeValue(found.texts, taint=found.taint, glob=True, deep=deep or owner.deep, path=True)
        if name in ("read_text", "read_bytes", "open") and (owner.path or not owner.refs):
            return OPEN.tainted(file_taint(owner))
        if (
            name in ("replace", "removeprefix", "removesuffix", "lower", "upper", "title")
            and owner.known
            and not owner.path
        ):
            arguments = [item.text for item in given.items]
            if all(text is not None for text in arguments):
                return union([text_value(_altered(text, name, arguments), owner.taint) for text in owner.texts])
        if name in ("split", "splitlines") and owner.text is not None:
            between = "\n" if name == "splitlines" else given.items[0].text if given.items else None
            return CodeValue((), (), tuple(map(text_value, owner.text.split(between or None)[:50])), taint=owner.taint)
        if name in ("copy", "items", "values", "get") and (owner.fields is not None or owner.items is not None):
            if name == "get" and given.items and given.items[0].text in (owner.fields or {}):
                return (owner.fields or {})[given.items[0].text or ""]
            if name == "values":
                return CodeValue((), (), tuple((owner.fields or {}).values()), taint=owner.taint)
            if name == "items":
                pairs = tuple(
                    CodeValue((), (), (text_value(key), value)) for key, value in (owner.fields or {}).items()
                )
                return CodeValue((), (), pairs, taint=owner.taint)
            return owner
        if name == "[:]":
            return owner if owner.items is not None else None
        return None


def _endings(given: CallArguments) -> tuple[str, ...]:
    """`rglob("*.pyc")` and `glob("**/x/*.pyc")` as patterns of files anywhere below, if they name any."""
    found = given.items[0] if given.items else None
    if found is None or not found.known or found.glob:
        return ()
    last = [text.rpartition("/")[2] for text in found.texts]
    names_all = any(not each.strip("*?.[!]") or each in ("*.*", ".*") for each in last)
    return () if names_all else tuple(dict.fromkeys(f"**/{each}" if "**" in text or text == each else text
                                                    for text, each in zip(found.texts, last, strict=True)))  # fmt: skip


def _altered(text: str, name: str, arguments: list[str | None]) -> str:
    words = [word for word in arguments if word is not None]
    if name == "replace":
        return text.replace(words[0], words[1]) if len(words) > 1 else text
    if name in ("lower", "upper", "title"):
        return {"lower": text.lower(), "upper": text.upper(), "title": text.title()}[name]
    return text.removeprefix(words[0]) if name == "removeprefix" else text.removesuffix(words[0]) if words else text


def _expanded(language: Language, given: CallArguments, values: Evaluator) -> CodeValue:
    found = given.at(0, "path") or OPEN
    texts = tuple(
        (language.home or HOLE) + text[1:]
        if text == "~" or text.startswith("~/")
        else HOLE
        if text[:1] == "~"
        else text
        for text in found.texts
    )
    return CodeValue(texts, taint=found.taint, path=True)


def _listed(language: Language, given: CallArguments, values: Evaluator) -> CodeValue:
    """Names without their folder: joined to it, they are all of its entries."""
    return CodeValue((), (), (CodeValue(("*",), glob=True),))


def _scanned(language: Language, given: CallArguments, values: Evaluator) -> CodeValue:
    inside = under([given.at(0, "path") or text_value("."), text_value("*")])
    each = CodeValue(inside.texts, glob=True, path=True)
    return CodeValue(
        (),
        (),
        (CodeValue(each.texts, (), None, {"path": each, "name": CodeValue(("*",), glob=True)}, glob=True, path=True),),
    )


def _walked(language: Language, given: CallArguments, values: Evaluator) -> CodeValue:
    top = given.at(0, "top") or OPEN
    root = CodeValue(top.texts or (HOLE,), taint=top.taint, deep=True, path=True)
    names = CodeValue((), (), (CodeValue(("*",), glob=True, deep=True),))
    return CodeValue((), (), (CodeValue((), (), (root, names, names)),))


def _globbed(language: Language, given: CallArguments, values: Evaluator) -> CodeValue:
    found = given.at(0, "pathname") or OPEN
    deep = any("**" in text for text in found.texts)
    return CodeValue((), (), (CodeValue(found.texts or (HOLE,), taint=found.taint, glob=True, deep=deep, path=True),))


def _opened(language: Language, given: CallArguments, values: Evaluator) -> CodeValue:
    found = given.at(0, "file") or given.named.get("filename") or OPEN
    return CodeValue((), ("open()",), taint=file_taint(found))


def _attribute(language: Language, given: CallArguments, values: Evaluator) -> CodeValue:
    owner, name = given.at(0), given.at(1)
    if owner is None or name is None or name.text is None:
        return union([given.items[2], OPEN]) if len(given.items) > 2 else OPEN
    return values.member(owner, name.text, given.call)


def _module(language: Language, given: CallArguments, values: Evaluator) -> CodeValue:
    found = given.at(0, "name")
    return CodeValue((), tuple(found.texts)) if found is not None and found.known else OPEN


def _archived(language: Language, given: CallArguments, values: Evaluator) -> CodeValue:
    return OPEN.tainted(TREE | LOCAL_FILE)


def _numbered(language: Language, given: CallArguments, values: Evaluator) -> CodeValue:
    inner = values.element(given.items[0]) if given.items else OPEN
    return CodeValue((), (), (CodeValue((), (), (OPEN, inner)),), taint=inner.taint)


def _letter(found: CodeValue) -> CodeValue:
    """`chr(114)`."""
    text = found.text
    known = text is not None and text.isdecimal() and len(text) < 7 and int(text) < 0x110000
    return CodeValue((chr(int(text or "0")) if known else HOLE,), taint=found.taint | DECODED)


def _zipped(language: Language, given: CallArguments, values: Evaluator) -> CodeValue:
    return CodeValue((), (), (CodeValue((), (), tuple(map(values.element, given.items))),))


def _mapped(language: Language, given: CallArguments, values: Evaluator) -> CodeValue:
    """`map(str, xs)`: the result of a function for each."""
    inner = given.items[1] if len(given.items) > 1 else OPEN
    if given.items and given.items[0].refs and given.items[0].refs[0] in (_SAME | _PATHS):
        return inner
    if given.items and "chr" in given.items[0].refs and inner.items is not None:
        return CodeValue((), (), tuple(map(_letter, inner.items)), taint=inner.taint | DECODED)
    return CodeValue((), (), (OPEN.tainted(inner.taint),), taint=inner.taint)


_RESULTS: dict[str, Callable[[Language, CallArguments, Evaluator], CodeValue]] = {
    "os.path.join": lambda language, given, values: under(given.items),
    "os.path.expanduser": _expanded,
    "os.path.expandvars": lambda language, given, values: given.at(0) or OPEN,
    "os.path.dirname": lambda language, given, values: parent(given.at(0) or OPEN),
    "os.path.basename": lambda language, given, values: OPEN,
    "pathlib.Path.home": lambda language, given, values: language.place("home"),
    "pathlib.Path.cwd": lambda language, given, values: language.place("cwd"),
    "os.getcwd": lambda language, given, values: language.place("cwd"),
    "os.getenv": lambda language, given, values: language.variable(given.at(0, "key"), given.at(1, "default")),
    "tempfile.gettempdir": lambda language, given, values: text_value("/tmp", path=True),
    "os.listdir": _listed,
    "os.scandir": _scanned,
    "os.walk": _walked,
    "glob.glob": _globbed,
    "glob.iglob": _globbed,
    "getattr": _attribute,
    # With more arguments it already is a call of the function.
    "functools.partial": lambda language, given, values: given.items[0] if len(given.items) == 1 else OPEN,
    "chr": lambda language, given, values: _letter(given.at(0) or OPEN),
    "__import__": _module,
    "importlib.import_module": _module,
    "shutil.make_archive": _archived,
    "enumerate": _numbered,
    "zip": _zipped,
    "map": _mapped,
    **dict.fromkeys(("open", "io.open", "codecs.open", "gzip.open", "aiofiles.open"), _opened),
}
_CONSTANTS = {
    "os.sep": text_value("/"),
    "os.path.sep": text_value("/"),
    "os.linesep": text_value("\n"),
    "os.curdir": text_value("."),
    "os.pardir": text_value(".."),
    "os.devnull": text_value("/dev/null"),
    "os.extsep": text_value("."),
    "sys.executable": text_value("python3"),
    "subprocess.PIPE": OPEN,
    "subprocess.DEVNULL": OPEN,
    "subprocess.STDOUT": OPEN,
}
