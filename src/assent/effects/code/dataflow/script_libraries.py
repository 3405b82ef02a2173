"""What the functions of Ruby, Perl, PHP and Lua do and return. Nothing is proved with this."""

from __future__ import annotations

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
)
from assent.effects.shell.commands.command_effects import Word

_ANY = """
    `: shell 0
    .execute .exec .exec_query .query .exec_params .do .prepare .select_all .run: sql 0
"""
RUBY = Actions(
    _ANY
    + """
    File.delete File.unlink: delete *
    Dir.rmdir Dir.delete Dir.unlink FileUtils.rm FileUtils.rm_f FileUtils.remove FileUtils.safe_unlink: delete 0
    FileUtils.rmdir: delete 0
    FileUtils.rm_r FileUtils.rm_rf FileUtils.remove_dir FileUtils.remove_entry: delete_all 0
    FileUtils.remove_entry_secure FileUtils.rmtree FileUtils.remove_file: delete_all 0
    FileUtils.mv FileUtils.move File.rename: read 0; take 0; write 1
    FileUtils.cp FileUtils.copy FileUtils.copy_file FileUtils.ln FileUtils.ln_s FileUtils.ln_sf: read 0; write 1
    FileUtils.cp_r FileUtils.copy_entry: read_all 0; write_all 1
    FileUtils.mkdir FileUtils.mkdir_p FileUtils.makedirs FileUtils.touch Dir.mkdir File.truncate: write 0
    File.write IO.write File.binwrite IO.binwrite: write 0
    FileUtils.chmod FileUtils.chown File.chmod File.chown: mode 1
    FileUtils.chmod_R FileUtils.chown_R: mode_all 1
    File.read IO.read File.readlines File.foreach IO.readlines File.binread IO.binread YAML.load_file: read 0
    File.open File.new Kernel.open open: open 0 1
    Dir.entries Dir.children Dir.each_child Dir.exist? File.exist? File.file? File.directory? File.size: list 0
    Dir.glob: globbed 0
    Dir.chdir: chdir
    system exec spawn Kernel.system Kernel.exec Kernel.spawn IO.popen Process.spawn PTY.spawn: words 0
    Open3.capture2 Open3.capture2e Open3.capture3 Open3.popen2 Open3.popen2e Open3.popen3 Open3.pipeline: words 0
    sh: words 0
    Net.HTTP.get Net.HTTP.get_response Net.HTTP.start URI.open OpenURI.open_uri Net.HTTP.get_print: fetch 0
    Net.HTTP.post Net.HTTP.post_form HTTParty.post HTTParty.put RestClient.post RestClient.put Faraday.post: send 0 1
    HTTParty.get RestClient.get Faraday.get Faraday.new HTTP.get Excon.get Typhoeus.get: fetch 0
    Faraday.put Excon.post Excon.put HTTP.post HTTP.put Typhoeus.post RestClient.patch: send 0 1
    Faraday.new().delete Net.HTTP.new().delete Net.HTTP.start().delete HTTP*().delete: destroy_there 0
    Excon.new().delete: destroy_there 0
    Faraday.new().post Faraday.new().put Faraday.new().patch: send 0 1
    HTTParty.delete RestClient.delete Faraday.delete Excon.delete HTTP.delete: destroy_there 0
    Net.HTTP.new TCPSocket.new TCPSocket.open UDPSocket.new Net.SSH.start Net.SMTP.start Net.FTP.new: fetch 0
    TCPSocket.new().write TCPSocket.new().puts TCPSocket.open().puts TCPSocket.open().write: sent
    Net.HTTP.new().request Net.HTTP.start().request: sent_body
    Sequel*.truncate: destroy database
    IO.popen*.write IO.popen*.puts .write .puts: typed 0
    eval Kernel.eval TOPLEVEL_BINDING.eval binding.eval instance_eval class_eval module_eval: eval 0
    RubyVM.InstructionSequence.compile: eval 0
    .instance_eval .class_eval .module_eval: eval 0
    Marshal.load YAML.load YAML.unsafe_load Psych.load Psych.unsafe_load: load 0
    send __send__ public_send Kernel.send Object.send .send .__send__ .public_send: dispatch 0
    print Kernel.puts Kernel.p STDOUT.puts $stdout.puts STDOUT.write $stdout.write $stderr.puts: print
    .delete_all .destroy_all: destroy_all
    Net.SSH.start().exec! Net.SSH.start().exec: remote 0
    Net.SMTP.start().send_message Mail.deliver: mail
    .deliver_now .deliver_later .deliver!: mail
    .clear! .delete! .purge! .destroy!: destroy
    .drop_table .drop_database .drop_collection .flushall .flushdb .delete_bucket .delete_stack: destroy
    .terminate_instances: destroy
    .delete_table .delete_db_instance .delete_cluster .delete_object .delete_objects .delete_repository: destroy
    Mongo.*.drop: destroy
    Aws.*.delete_*: destroy
    Aws.*.terminate_*: destroy
    /rmtree /rmtree!: delete_all self
    /delete /unlink /rmdir: delete self
    /write /binwrite /mkdir /mkpath: write self
    /read /binread /readlines: read self
    /rename: read self; take self; write 0
    """
)
PERL = Actions(
    _ANY
    + """
    unlink POSIX.remove rmdir: delete *
    rmtree remove_tree File.Path.rmtree File.Path.remove_tree pathrmdir: delete_all *
    rename move mv File.Copy.move File.Copy.mv: read 0; take 0; write 1
    copy cp File.Copy.copy File.Copy.cp link symlink: read 0; write 1
    mkdir mkpath make_path truncate utime File.Path.make_path File.Path.mkpath: write 0
    chmod: mode 1
    chown: mode 2
    open: perl_open
    opendir stat: list 1
    glob: globbed 0
    chdir: chdir
    system exec: words 0
    get getprint head LWP.Simple.get LWP.Simple.getprint: fetch 0
    getstore LWP.Simple.getstore mirror: fetch 0; write 1
    LWP.UserAgent.new().get HTTP.Tiny.new().get LWP.UserAgent.new().head Mojo.UserAgent.new().get: fetch 0
    LWP.UserAgent.new().post LWP.UserAgent.new().put HTTP.Tiny.new().post HTTP.Tiny.new().put: send 0 1
    HTTP.Tiny.new().post_form Mojo.UserAgent.new().post: send 0 1
    HTTP.Tiny.new().request: request 1 2
    HTTP.Tiny.new().delete LWP.UserAgent.new().delete Mojo.UserAgent.new().delete: destroy_there 0
    IO.Socket.INET.new IO.Socket.SSL.new Net.SMTP.new Net.FTP.new Net.SSH.new: peer
    eval: eval 0
    Storable.thaw thaw YAML.Load Load: load 0
    print: print
    """
)
PHP = Actions(
    _ANY
    + """
    unlink rmdir: delete 0
    rename: read 0; take 0; write 1
    copy symlink link move_uploaded_file: read 0; write 1
    file_put_contents mkdir touch tempnam: write 0
    chmod chown chgrp: mode 0
    fopen SplFileObject: open 0 1
    file_get_contents file readfile fopen_url simplexml_load_file parse_ini_file highlight_file show_source: load_any 0
    opendir scandir is_file is_dir file_exists filesize DirectoryIterator: list 0
    RecursiveDirectoryIterator: list_all 0
    glob: globbed 0
    chdir: chdir
    exec shell_exec system passthru popen proc_open: shell 0
    pcntl_exec: words 0
    curl_init fsockopen pfsockopen stream_socket_client ftp_connect ssh2_connect: fetch 0
    curl_setopt: curl
    mail wp_mail: mail
    GuzzleHttp.Client().post GuzzleHttp.Client().put GuzzleHttp.Client().patch: send 0 1
    GuzzleHttp.Client().delete: destroy_there 0
    Artisan.call Artisan.queue: program php artisan
    .call .callSilently .queue: artisan
    *query().delete: destroy database
    *query().truncate: destroy database
    *DB.table().delete: destroy database
    *DB.table().truncate: destroy database
    wp_delete_user wp_delete_post wp_delete_attachment wp_delete_term wp_delete_comment wpmu_delete_user: destroy
    fwrite_socket: sent
    ssh2_exec: remote 1
    Http.get Http.post Http.put: send 0 1
    Http.delete: destroy_there 0
    .request: request 1 2
    eval create_function: eval -1
    assert: assert 0
    unserialize: load 0
    include include_once require require_once: load 0
    array_map array_walk call_user_func call_user_func_array array_filter register_shutdown_function usort: dispatch 0
    print print_r var_dump var_export printf echo phpinfo_all: print
    mysqli_query pg_query sqlsrv_query: sql 1
    mysql_query mysqli.query: sql 0
    .statement .unprepared .multi_query .executeQuery .executeStatement .raw: sql 0
    .dropIfExists .dropDatabase .dropAllTables .drop: destroy database
    .flushAll .flushall .flushdb .flushDB: destroy
    .truncate .deleteMany: destroy_all
    .deleteBucket .deleteTable .terminateInstances .deleteObject .deleteObjects .deleteStack: destroy
    DB.statement DB.unprepared: sql 0
    Schema.drop Schema.dropAllTables: destroy
    File.delete Storage.delete: delete *
    File.deleteDirectory File.cleanDirectory Storage.deleteDirectory: delete_all 0
    """
)
LUA = Actions(
    """
    os.remove lfs.rmdir: delete 0
    os.rename: read 0; take 0; write 1
    os.execute io.popen ngx.pipe.spawn: shell 0
    io.open: open 0 1
    io.lines: read 0
    load loadstring loadfile: eval 0
    dofile: read 0
    print io.write: print
    socket.http.request http.request ssl.https.request: send 0 1
    socket.connect socket.tcp().connect: fetch 0
    lfs.chdir: chdir
    lfs.mkdir: write 0
    .execute .query: sql 0
    """
)
ACTIONS = {"ruby": RUBY, "perl": PERL, "php": PHP, "lua": LUA}

_HOMES = frozenset({"Dir.home", "Etc.getpwuid().dir", "File.HomeDir.my_home", "posix_getpwuid()"})
_FOLDERS = frozenset({"__dir__", "__DIR__", "FindBin.Bin", "$Bin", "$FindBin.Bin", "RealBin"})
_FILES = frozenset({"__FILE__", "$0", "$PROGRAM_NAME"})
_HERE = frozenset({"Dir.pwd", "Dir.getwd", "getcwd", "cwd", "Cwd.getcwd", "Cwd.cwd", "lfs.currentdir"})
_SAME = frozenset(
    """File.expand_path File.absolute_path File.realpath realpath shellwords Shellwords.escape Shellwords.split
    escapeshellarg escapeshellcmd String abs_path Cwd.abs_path rel2abs array_values array_merge sorted URI URI.parse
    to_s Array strval trim rtrim chomp sort reverse array_reverse quotemeta tostring http_build_query json_encode
    JSON.generate to_json encode_json uniq RecursiveIteratorIterator""".split()
)
_WHOLE = frozenset("to_h to_a to_hash inspect to_s values map each sort select each_pair sort_by".split())
_JOINS = frozenset({"File.join", "catfile", "catdir", "File.Spec.catfile", "File.Spec.catdir", "Rails.root.join"})
_READS = frozenset(
    """File.read IO.read File.readlines File.binread IO.binread File.open File.new open file_get_contents file fopen
    readfile File.foreach io.open""".split()
)
_FETCHING = Pattern(
    r"Net\.HTTP\..*|URI\.open|HTTParty\.\w+|RestClient\.\w+|Faraday\.\w+|HTTP\.\w+|Excon\.\w+|LWP\..*|HTTP\.Tiny\..*"
    r"|curl_exec|TCPSocket\..*|fsockopen|(?:LWP\.Simple\.)?get|socket\..*|Mojo\..*|OpenURI\..*|fgets|fread|recv"
)
_DECODING = Pattern(
    r"Base64\.\w*decode\w*|base64_decode|decode_base64|MIME\.Base64\.\w+|hex2bin|gzinflate|gzuncompress|str_rot13|convert_uudecode"
    r"|Zlib\..*inflate.*|pack|unpack|urldecode|rawurldecode"
)
_KEEPS = frozenset(
    """strip chomp to_s to_str rstrip lstrip to_a sort uniq compact read body text content decoded_content to_path
    expand_path realpath dup freeze first last stdout reverse flatten flat_map sort_by shellescape chop
    getPathname getRealPath getPath""".split()
)


# What comes before a library of Lua that is reached through a table.
_LUA_LIBRARY = Pattern(r"^(?:.*\.)?(?=(?:os|io)(?:\.|$))|^(?:_G|_ENV|package\.loaded)\.")


class OtherLanguage(Language):
    __slots__ = ("name",)
    bare = True
    environments = frozenset({"ENV", "$ENV", "%ENV", "$_ENV", "$_SERVER"})
    selves = frozenset({"self", "this", "$this", "$self"})

    def __init__(self, name: str, home: str, cwd: str, folder: str, argv: tuple[Word, ...]) -> None:
        super().__init__(home, cwd, folder, argv)
        self.name = name

    def canonical(self, ref: str) -> str:
        if self.name == "lua":
            return _LUA_LIBRARY.sub("", ref)
        return ref.replace("\\", ".").lstrip(".") if self.name == "php" else ref

    def constant(self, ref: str) -> CodeValue | None:
        if ref in _HOMES:
            return self.place("home")
        if ref in _FOLDERS:
            return self.place("folder")
        if ref in _FILES:
            return under([self.place("folder"), text_value("script" if self.folder else HOLE)])
        if ref in _HERE:
            return self.place("cwd")
        if ref in self.environments:
            return CodeValue((), (ref,), taint=ENVIRONMENT)
        environment, _, method = ref.rpartition(".")
        if environment in self.environments and method in _WHOLE:
            return OPEN.tainted(ENVIRONMENT)
        if ref in ("DIRECTORY_SEPARATOR", "File.SEPARATOR"):
            return text_value("/")
        return CodeValue() if ref in ("nil", "null", "undef", "NULL") else None

    def result(self, ref: str, given: CallArguments, values: Evaluator) -> CodeValue | None:
        first = given.items[0] if given.items else None
        if ref in ("File.expand_path", "realpath", "File.absolute_path") and first is not None:
            return self.expanded(given)
        if ref.endswith(".method") and self.name == "ruby" and first is not None and first.text is not None:
            return values.named(f"{ref[:-7]}.{first.text}")
        if ref == "require" and self.name == "lua" and first is not None and first.text is not None:
            return values.named(first.text)
        if ref in _SAME:
            return first
        if ref in _JOINS:
            return under(given.items)
        if ref in ("Pathname.new", "Pathname"):
            return CodeValue(first.texts, taint=first.taint, path=True) if first is not None else OPEN
        if ref in ("dirname", "File.dirname"):
            return parent(first or OPEN, int(given.items[1].text or 1) if len(given.items) > 1 else 1)
        if ref in ("getenv", "os.getenv", "ENV.fetch", "ENV.[]"):
            return self.variable(first, given.at(1)) if first is not None else OPEN.tainted(ENVIRONMENT)
        environment, _, method = ref.rpartition(".")
        if environment in self.environments:
            return OPEN.tainted(0 if method in ("keys", "key?") else ENVIRONMENT)
        if ref in ("Dir.glob", "glob", "bsd_glob", "File.Glob.bsd_glob"):
            return _globbed(self.patterns(first or OPEN) if self.name == "perl" else first or OPEN)
        if ref in ("Dir.entries", "Dir.children", "Dir.each_child", "scandir", "readdir"):
            return CodeValue((), (), (CodeValue(("*",), glob=True),))
        if ref in ("Dir.mktmpdir", "tempdir", "File.Temp.tempdir", "Tempfile.new", "tmpfile", "tempnam", "os.tmpname"):
            return text_value(OWN, path=True)
        if ref in ("sys_get_temp_dir", "Dir.tmpdir"):
            return text_value("/tmp", path=True)
        if ref in ("sprintf", "format") and first is not None and first.text is not None:
            return _sprintf(first.text, given)
        if ref in ("implode", "join") and len(given.items) > 1 and first is not None and first.text is not None:
            parts = (
                given.items[1].items if len(given.items) == 2 and given.items[1].items is not None else given.items[1:]
            )
            return joined(list(parts), between=first.text)
        if ref in ("str_replace", "strrev", "chr", "require", "lc", "uc"):
            return OPEN.tainted(given.taint())
        if _DECODING.fullmatch(ref):
            text = first.text if first is not None else None
            known = decoded(ref, text) if text is not None else None
            return CodeValue((known if known is not None else HOLE,), taint=given.taint() | DECODED)
        if ref == "open" and self.name == "perl":
            return self.opened(ref, given.items[min(2, len(given.items) - 1)] if given.items else OPEN)
        if ref == "RecursiveDirectoryIterator":
            found = first or OPEN
            return CodeValue((), (), (CodeValue(found.texts or (HOLE,), taint=found.taint, deep=True, path=True),))
        if ref in _READS:
            return self.opened(ref, first or OPEN)
        if _FETCHING.fullmatch(ref):
            return CodeValue((), (f"{ref}()",), taint=FETCHED)
        return self.method(method, given, values) if method in _KEEPS else None

    def opened(self, ref: str, found: CodeValue) -> CodeValue:
        if any("://" in text for text in found.texts):
            return CodeValue((), (f"{ref}()",), taint=found.taint | FETCHED)
        return CodeValue((), (f"{ref}()",), taint=file_taint(found))

    def tilde(self, text: str) -> str:
        return (self.home or HOLE) + text[1:] if text == "~" or text.startswith("~/") else text

    def patterns(self, found: CodeValue) -> CodeValue:
        """What Perl's `glob` is given: several patterns between blanks, each with `~` for the home folder."""
        texts = [self.tilde(each) for text in found.texts for each in (text, *text.split()) if each.strip()]
        return CodeValue(tuple(dict.fromkeys(texts)), taint=found.taint)

    def expanded(self, given: CallArguments) -> CodeValue:
        found = given.items[0]
        texts = tuple(map(self.tilde, found.texts))
        made = CodeValue(texts or (HOLE,), taint=found.taint, path=True)
        if len(given.items) > 1:
            base = given.items[1]
            return under([parent(base) if any(text.endswith("/script") for text in base.texts) else base, made])
        return made

    def method(self, name: str, given: CallArguments, values: Evaluator) -> CodeValue | None:
        owner = given.owner
        if name == "[]" and "Dir" in owner.refs:
            return _globbed(given.items[0])
        if name == "join" and owner.path:
            return under([owner, *given.items])
        if name == "join" and owner.items is not None:
            between = given.items[0].text if given.items else ""
            return joined(list(owner.items), between=between or "")
        if name in ("map", "collect", "each", "flat_map") and given.call.parts[-1].kind == "function":
            function = values.code.functions[int(given.call.parts[-1].text)]
            return (
                CodeValue((), (), tuple(values.all(function.returns[:4])), taint=owner.taint)
                if function.returns
                else owner
            )
        if name in ("select", "reject", "filter", "grep", "grep_v") and owner.items is not None:
            return CodeValue((), (), tuple(map(some, owner.items)), taint=owner.taint)
        if owner.path and name in ("children", "entries", "each_child", "glob", "find", "rglob"):
            deep = name == "find" or any("**" in text for item in given.items for text in item.texts)
            found = under([owner, given.items[0] if given.items and name == "glob" and not deep else text_value("*")])
            return CodeValue((), (), (CodeValue(found.texts, glob=True, deep=deep, path=True),))
        if owner.path and name in ("parent", "dirname"):
            return parent(owner)
        return owner if name in _KEEPS else None


def _globbed(found: CodeValue) -> CodeValue:
    deep = any("**" in text for text in found.texts)
    return CodeValue((), (), (CodeValue(found.texts or (HOLE,), taint=found.taint, glob=True, deep=deep, path=True),))


_PERCENT = Pattern(r"%[-+ #0-9.]*[a-zA-Z]")


def _sprintf(text: str, given: CallArguments) -> CodeValue:
    parts: list[CodeValue] = [text_value("")]
    last = 0
    rest = list(given.items[1:])
    for match in _PERCENT.finditer(text):
        parts += [text_value(text[last : match.start()]), rest.pop(0) if rest else text_value(HOLE)]
        last = match.end()
    return joined([*parts, text_value(text[last:])])
