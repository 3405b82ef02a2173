"""What the functions of node, bun and deno, and of common packages, do and return, for code that is not proved."""

from __future__ import annotations

from collections.abc import Callable

from assent.contract import Pattern
from assent.effects.code.dataflow.actions import OWN, Actions
from assent.effects.code.dataflow.evaluate import CallArguments, Evaluator, Language
from assent.effects.code.dataflow.nodes import HOLE
from assent.effects.code.dataflow.text_functions import decoded
from assent.effects.code.dataflow.value import (
    DECODED,
    ENVIRONMENT,
    FETCHED,
    OPEN,
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
    fs.unlink fs.rmdir trash Bun.file().delete Bun.file().unlink: delete 0
    fs.rm Deno.remove: remove 0
    fs.remove fs.emptyDir rimraf rimraf.rimraf rimraf.sync del.sync del del.deleteAsync del.delete fs.rmrf: delete_all 0
    rimraf.native rimraf.manual shelljs.rm: delete_all 0
    fs.rename fs.move: read 0; take 0; write 1
    fs.copyFile fs.link fs.symlink fs.copy: read 0; write 1
    fs.cp: read_all 0; write_all 1
    fs.writeFile fs.appendFile fs.mkdir fs.createWriteStream fs.truncate fs.utimes fs.outputFile fs.writeJson: write 0
    fs.outputJson fs.ensureDir fs.ensureFile fs.mkdtemp fs.ensureDirSync Bun.write Deno.writeTextFile: write 0
    Deno.writeFile: write 0
    Deno.mkdir: write 0
    fs.chmod fs.chown fs.lchown Deno.chmod: mode 0
    fs.readFile fs.createReadStream fs.readJson Deno.readTextFile Deno.readFile Bun.file: read 0
    fs.readdir fs.stat fs.lstat fs.exists fs.access fs.opendir fs.existsSync Deno.readDir Deno.stat: list 0
    fs.open Deno.open: open 0 1
    child_process.exec: shell 0
    child_process.execFile child_process.spawn execa execa.execa execa.execaSync execa.execaCommand cross-spawn: words 0
    cross-spawn.sync cross-spawn.spawn tinyexec.x tinyexec.exec nano-spawn Bun.spawn Bun.spawnSync: words 0
    execa.command execa.commandSync execa.execaCommandSync shelljs.exec shell.exec: shell 0
    Deno.Command Deno.run: deno_command
    zx.$ bun.$ execa.$ Bun.$ $ dax.$ dax.default: tagged 0
    child_process.fork: read 0
    mongodb.*.drop mongodb.*.dropDatabase mongodb.*.dropCollection mongoose.*.drop: destroy database
    octokit*.request @octokit*.request: route 0
    ._compile: eval 0
    .stdin.write .stdin.end: typed 0
    simple-git*.push simple-git*.reset simple-git*.clean simple-git*.raw simple-git*.branch: program git
    simple-git*.checkout simple-git*.stash simple-git*.deleteLocalBranch simple-git*.tag: program git
    worker_threads.Worker: worker 0
    fetch undici.fetch undici.request node-fetch cross-fetch isomorphic-fetch ky got axios superagent: request 0 1
    axios.request got.stream needle request request.get undici.stream http.request https.request: request 0 1
    http2.connect http.get https.get axios.get got.get ky.get superagent.get undici.get axios.create().get: send 0
    axios.post axios.put axios.patch got.post got.put got.patch ky.post ky.put superagent.post request.post: send 0 1
    axios.create().post axios.create().put axios.create().patch request.put: send 0 1
    axios.create().request axios.create(): request 0 1
    axios.delete got.delete ky.delete superagent.delete superagent.del request.delete request.del: destroy_there 0
    axios.create().delete: destroy_there 0
    net.connect net.createConnection tls.connect net.Socket().connect: net_connect
    WebSocket ws ws.WebSocket EventSource socket.io-client socket.io-client.io dgram.createSocket().send: fetch 0
    WebSocket().send ws().send ws.WebSocket().send net.connect().write net.createConnection().write: sent
    net.Socket().write tls.connect().write http.request().write http.request().end https.request().write: sent
    https.request().end navigator.sendBeacon: sent
    nodemailer.createTransport().sendMail: mail
    nodemailer.createTransport: fetch 0
    XMLHttpRequest().open: request 1 2
    XMLHttpRequest().send: sent
    net.connect().pipe net.createConnection().pipe net.Socket().pipe: pipe
    .pipe: pipe
    eval globalThis.eval vm.runInNewContext vm.runInThisContext vm.runInContext vm.compileFunction vm.Script: eval 0
    vm.Script.runInThisContext module._compile Module.prototype._compile: eval 0
    Function Function.constructor AsyncFunction: eval -1
    require import module.require: load 0
    console.log console.error console.info console.warn console.debug console.table console.dir: print
    process.stdout.write process.stderr.write: print
    process.chdir: chdir
    process.kill: kill 0
    process.binding process.dlopen process._linkedBinding: danger built-code
    dns.lookup dns.resolve dns.resolve4 dns.resolveTxt dns.promises.lookup dns.promises.resolve: fetch 0
    knex()().del knex()().delete knex()().truncate: destroy database
    iohook.start uiohook-napi.uIOhook.start node-global-key-listener*.addListener: danger spies
    @aws-sdk/*.Delete*: destroy
    @aws-sdk/*.Terminate*: destroy
    aws-sdk.*.delete*: destroy
    aws-sdk.*.terminate*: destroy
    @google-cloud/*.delete*: destroy
    @azure/*.delete*: destroy
    @azure/*.beginDelete*: destroy
    @kubernetes/*.delete*: destroy
    @octokit/*.delete*: destroy
    octokit.*.delete*: destroy
    stripe*.del: destroy
    stripe*.cancel: destroy
    dockerode*.remove: destroy
    dockerode*.prune*: destroy
    .dropDatabase .dropCollection .dropTable .dropTableIfExists .dropSchema .dropAllTables .dropColumn: destroy database
    .dropAllSchemas .dropTables: destroy database
    sequelize*.drop: destroy database
    typeorm*.clear: destroy database
    stripe*.refunds.create: destroy
    stripe*.payouts.create: destroy
    stripe*.transfers.create: destroy
    stripe*.charges.create: destroy
    stripe*.paymentIntents.create: destroy
    twilio*.messages.create: mail
    resend*.emails.send: mail
    bull*.obliterate: destroy
    bull*.empty: destroy
    bull*.drain: destroy
    amqplib*.purgeQueue: destroy
    amqplib*.deleteQueue: destroy
    ssh2*.exec: remote 0
    node-ssh*.execCommand: remote 0
    .flushall .flushAll .flushdb .flushDb .FLUSHALL: destroy
    .deleteMany .destroyAll: destroy_all
    .deleteBucket .deleteTable .deleteStack .deleteCluster .terminateInstances .deleteDBInstance: destroy
    .deleteNamespace: destroy
    .deleteObject .deleteObjects .deleteRepository .deleteVolume .deleteSnapshot .deleteTopic: destroy
    .sync .destroy: forced
    .query .execute .raw .exec .run .unsafe .none .any .multi .batch: sql 0
    .$executeRawUnsafe .$queryRawUnsafe .$executeRaw .$queryRaw .executeSql .runSql: sql 0
    better-sqlite3*.exec: sql_local 0
    better-sqlite3*.prepare: sql_local 0
    sqlite3*.exec: sql_local 0
    sqlite3*.run: sql_local 0
    node:sqlite*.exec: sql_local 0
    bun:sqlite*.exec: sql_local 0
    bun:sqlite*.run: sql_local 0
    .unlinkSync .rmdirSync .unlink .rmdir: delete 0
    .rmSync: remove 0
    .emptyDirSync .emptyDir .removeSync .rimraf: delete_all 0
    .execSync: shell 0
    .spawnSync .execFileSync: words 0
    .writeFileSync .appendFileSync: write 0
    """
)
_FS = ("fs-extra", "graceful-fs", "fs/promises", "fs.promises", "memfs.fs", "fs-extra/esm")
_SYNC = Pattern(r"(fs|child_process|rimraf|del|Deno)(\.\w+?)Sync")
_GLOBS = frozenset(
    """glob glob.glob glob.sync glob.globSync glob.globby fast-glob
    fast-glob.sync fast-glob.glob fast-glob.globSync
    globby globby.globby globby.globbySync globby.sync tinyglobby.glob tinyglobby.globSync fs.glob
    Bun.Glob zx.glob""".split()
)
_SAME = frozenset(
    """String path.normalize url.fileURLToPath fileURLToPath fs.realpath JSON.stringify util.promisify Promise.resolve
    path.toNamespacedPath Array.from Object.freeze structuredClone Promise.all url.pathToFileURL URL decodeURIComponent
    Buffer.concat sql Prisma.sql Prisma.raw util.format FormData Blob Uint8Array fs.realpath.native""".split()
)
_FETCHING = Pattern(
    r"(?:fetch|undici\.\w+|node-fetch|cross-fetch|axios(?:\.\w+)?|got(?:\.\w+)?|ky(?:\.\w+)?|https?\.(?:get|request)"
    r"|superagent\.\w+|needle|request(?:\.\w+)?|net\.(?:connect|createConnection|Socket)|tls\.connect|ws|WebSocket)"
)
_KEEPS = frozenset(
    """toString trim trimEnd trimStart text json valueOf normalize then catch finally flat slice values sort
    reverse concat arrayBuffer href pathname body data stdout""".split()
)


class NodeLanguage(Language):
    __slots__ = ()
    environments = frozenset({"process.env", "Bun.env", "Deno.env", "import.meta.env"})
    selves = frozenset({"this"})

    def canonical(self, ref: str) -> str:
        if ref.startswith("node:") and ref != "node:sqlite":
            ref = ref[5:]
        for first in ("globalThis.", "global.", "window.", "self."):
            ref = ref.removeprefix(first)
        for first in _FS:
            if ref == first or ref.startswith(first + "."):
                ref = "fs" + ref[len(first) :]
        if ref.startswith("path.posix"):
            ref = "path" + ref[10:]
        ref = ref.replace(".default", "")
        match = _SYNC.fullmatch(ref)
        return match[1] + match[2] if match is not None else ref

    def constant(self, ref: str) -> CodeValue | None:
        if ref in ("__dirname", "import.meta.dirname", "import.meta.dir"):
            return self.place("folder")
        if ref in ("__filename", "import.meta.url", "import.meta.filename", "import.meta.path"):
            return under([self.place("folder"), text_value("script.js" if self.folder else HOLE)])
        if ref in self.environments:
            return CodeValue((), (ref,), taint=ENVIRONMENT)
        environment, _, name = ref.rpartition(".")
        if environment in self.environments and name not in ("get", "toObject"):
            return self.variable(text_value(name))
        if ref in ("undefined", "null", "NaN"):
            return CodeValue()
        return text_value("/") if ref == "path.sep" else text_value("node") if ref == "process.execPath" else None

    def result(self, ref: str, given: CallArguments, values: Evaluator) -> CodeValue | None:
        first = given.items[0] if given.items else None
        if ref in ("require", "import", "module.require", "process.mainModule.require"):
            known = first is not None and first.known
            return CodeValue((), tuple(map(self.canonical, first.texts))) if known and first is not None else OPEN
        if ref in _RESULTS:
            return _RESULTS[ref](self, given, values)
        if ref in _SAME:
            return first
        if ref.startswith(("child_process.", "execa", "Bun.spawn", "Deno.Command", "zx.$")) or ref == "$":
            return CodeValue((), (f"{ref}()",))  # the output of a program is not tainted by its input
        if ref in ("Deno.env.get", "process.env.get"):
            return self.variable(first)
        if ref == "Deno.env.toObject":
            return OPEN.tainted(ENVIRONMENT)
        if ref in _GLOBS:
            patterns = [each for item in given.items[:1] for each in (item.items or (item,))]
            found = union(patterns) if patterns else OPEN
            deep = any("**" in text for text in found.texts)
            return CodeValue(
                (), (), (CodeValue(found.texts or (HOLE,), taint=found.taint, glob=True, deep=deep, path=True),)
            )
        if _FETCHING.fullmatch(ref):
            return CodeValue((), (f"{ref}()",), taint=FETCHED)
        if ref in (
            "fs.readFile",
            "fs.createReadStream",
            "Bun.file",
            "Deno.readTextFile",
            "Deno.readFile",
            "fs.readJson",
        ):
            return CodeValue((), (f"{ref}()",), taint=file_taint(first or OPEN))
        return None

    def method(self, name: str, given: CallArguments, values: Evaluator) -> CodeValue | None:
        owner = given.owner
        if name == "join" and owner.items is not None:
            between = given.items[0].text if given.items else ","
            return joined(list(owner.items), between=between) if between is not None else OPEN.tainted(given.taint())
        if name == "concat" and owner.texts and given.items:
            return joined([owner, *given.items])
        if name in ("map", "flatMap", "forEach") and given.call.parts[-1].kind == "function":
            function = values.code.functions[int(given.call.parts[-1].text)]
            return CodeValue((), (), tuple(values.all(function.returns[:4])), taint=owner.taint)
        if name in ("keys", "length"):
            return OPEN
        if name == "filter":
            items = tuple(map(some, owner.items)) if owner.items is not None else None
            return CodeValue(owner.texts, owner.refs, items, owner.fields, owner.taint)
        if name in _KEEPS:
            return owner
        if name in ("replace", "replaceAll") and owner.known and len(given.items) == 2:
            old, new = given.items[0].text, given.items[1].text
            if old is not None and new is not None:
                count = -1 if name == "replaceAll" else 1
                return union([text_value(text.replace(old, new, count), owner.taint) for text in owner.texts])
        if name == "split" and owner.text is not None and given.items and given.items[0].text is not None:
            between = given.items[0].text
            pieces = owner.text.split(between)[:50] if between else list(owner.text[:50])
            return CodeValue((), (), tuple(map(text_value, pieces)), taint=owner.taint)
        return None


def _path_join(language: Language, given: CallArguments, values: Evaluator) -> CodeValue:
    """The parts joined; an absolute part does not replace those before it."""
    parts = [
        item
        if not place
        else CodeValue(
            tuple(text.lstrip("/") or "." for text in item.texts or (HOLE,)),
            taint=item.taint,
            glob=item.glob,
            deep=item.deep,
        )
        for place, item in enumerate(given.items)
    ]
    return under(parts) if parts else text_value(".", path=True)


def _buffer(language: Language, given: CallArguments, values: Evaluator) -> CodeValue:
    encoding = given.items[1].text if len(given.items) > 1 else None
    text = given.items[0].text if given.items else None
    if encoding in ("base64", "hex", "base64url"):
        known = decoded(encoding, text) if text is not None else None
        return CodeValue((known if known is not None else HOLE,), taint=given.taint() | DECODED)
    return given.items[0] if given.items else OPEN


def _atob(language: Language, given: CallArguments, values: Evaluator) -> CodeValue:
    text = given.items[0].text if given.items else None
    known = decoded("atob", text) if text is not None else None
    return CodeValue((known if known is not None else HOLE,), taint=given.taint() | DECODED)


def _letters(language: Language, given: CallArguments, values: Evaluator) -> CodeValue:
    """`String.fromCharCode(114, 109)`."""
    codes = [item.text for item in given.items]
    if codes and all(code is not None and code.isdecimal() and len(code) < 7 for code in codes):
        return text_value("".join(chr(int(code or "0") % 0x110000) for code in codes), DECODED)
    return OPEN.tainted(given.taint() | DECODED)


def _listing(language: Language, given: CallArguments, values: Evaluator) -> CodeValue:
    """Names without their folder: joined to it, they are all of its entries."""
    options = given.items[1].fields if len(given.items) > 1 else None
    deep = options is not None and "recursive" in options
    each = CodeValue(("*",), glob=True, deep=deep)
    return CodeValue(
        (),
        (),
        (
            CodeValue(
                ("*",), (), None, {"name": each, "path": given.items[0] if given.items else OPEN}, glob=True, deep=deep
            ),
        ),
    )


def _address(language: Language, given: CallArguments, values: Evaluator) -> CodeValue:
    """`new URL("x", import.meta.url)`."""
    if len(given.items) > 1 and given.items[1].path:
        return under([parent(given.items[1]), given.items[0]])
    return given.items[0] if given.items else OPEN


_RESULTS: dict[str, Callable[[Language, CallArguments, Evaluator], CodeValue]] = {
    "path.join": _path_join,
    "path.resolve": lambda language, given, values: under(given.items) if given.items else language.place("cwd"),
    "path.dirname": lambda language, given, values: parent(given.at(0) or OPEN),
    "path.basename": lambda language, given, values: OPEN,
    "os.homedir": lambda language, given, values: language.place("home"),
    "os.tmpdir": lambda language, given, values: text_value("/tmp", path=True),
    "process.cwd": lambda language, given, values: language.place("cwd"),
    "Deno.cwd": lambda language, given, values: language.place("cwd"),
    "fs.mkdtemp": lambda language, given, values: text_value(OWN, path=True),
    "Deno.makeTempDir": lambda language, given, values: text_value(OWN, path=True),
    "fs.readdir": _listing,
    "Deno.readDir": _listing,
    "Buffer.from": _buffer,
    "atob": _atob,
    "String.fromCharCode": _letters,
    "JSON.parse": lambda language, given, values: OPEN.tainted(given.taint()),
    "Object.keys": lambda language, given, values: OPEN,
    "URL": _address,
}
