"""Readers for interpreters other than Python: scans their inline code for visible effects.

Scanning proves nothing, so code is EXECUTE, except a few forms that only print."""

from __future__ import annotations

from functools import partial

from assent.contract import DOTALL, Pattern, re
from assent.effects.shell.commands.command_effects import (
    DELETE,
    EMPTIES,
    LONGEST,
    READ,
    WRITE,
    EffectsBuilder,
    Word,
    literal,
    shown,
    values,
)
from assent.effects.shell.commands.line import CommandLine
from assent.effects.shell.commands.options import Parsed, parse
from assent.effects.shell.commands.roles import apply
from assent.programs.option import Options, options_of

_TEXT = r"\s*\(?\s*['\"]([^'\"\n\\]+)['\"]"
_READS = Pattern(
    r"\b(?:readFile(?:Sync)?|createReadStream|readdirSync|File\.read|IO\.read|file_get_contents|Bun\.file)" + _TEXT
)
_WRITES = Pattern(
    r"\b(?:writeFile(?:Sync)?|appendFile(?:Sync)?|createWriteStream|mkdirSync|File\.write|IO\.write|file_put_contents"
    r"|Bun\.write|FileUtils\.(?:touch|mkdir_p?))" + _TEXT
)
_DELETES = Pattern(
    r"\b(?:unlink(?:Sync)?|rmSync|rmdirSync|rimraf|rmtree|remove_tree|FileUtils\.(?:rm_rf|rm_r|rm|remove_dir)|File\.delete)"
    + _TEXT
)
_OPENS = Pattern(r"\bopen\b[^;\n]*?['\"]\s*(\+?[<>]{1,2})\s*(?:['\"]\s*,\s*['\"])?([^'\"\n]+)['\"]")
_SCRIPTS = Pattern(
    r"(?:\b(?:system|exec|execSync|popen|proc_open|shell_exec|passthru|spawn|spawnSync|execFile|execFileSync|execute|qx)\b|%x)"
    r"\s*[({/]?\s*(?P<quote>['\"`]?)(?P<script>[^'\"`\n)}]+)(?P=quote)"
)
_STATEMENT = Pattern(  # SQL, as passed to `exec` and `execute` of databases
    r"(?i)\s*(?:create\s+(?:temp\w*\s+|virtual\s+)?(?:table|index|view|trigger)|insert\s+into|select\s|update\s+\S+\s+set|delete\s+from"
    r"|drop\s+(?:table|index|view|trigger)|alter\s+table|pragma\s|begin\b|commit\b|rollback\b|with\s+\w+\s+as)"
)
_LISTS = Pattern(
    r"\b(?:system|exec|spawn|spawnSync|execFile|execFileSync|popen|exec_cmd)\b\s*[(\[\s]*"
    r"(?P<words>(?:['\"][^'\"\n]+['\"]\s*[,\[\]\s]*){2,16})"
)
_STRING = Pattern(r"['\"]([^'\"\n]+)['\"]")
_PLACE = Pattern(r"['\"`}](~?/[^\s'\"`<>|;:]+|\.{1,2}/[^\s'\"`<>|;:]+|\.env[\w.]*)['\"`]")
_MOST_PLACES = 64
_TICKS = Pattern(r"`([^`\n]+)`")
_REMOVES = Pattern(r"\brm\s+-[A-Za-z-]*[rR][A-Za-z-]*\s+[^\s'\"`;|&()\[\]]+")
_FETCHES = Pattern(r"['\"`]((?:https?|ftp)://[^'\"`\s]+)['\"`]")
_EVALS = Pattern(r"(?<![.\w])(?:eval|loadstring)\b|new Function\b|runIn\w+Context")
PYTHON_EVALS = Pattern(r"(?<![.\w])(?:exec|eval)\s*\(")
_LOADS = Pattern(
    r"urlopen|urlretrieve|(?<![.\w])(?:requests|httpx)\.\w+\(|URI\.open|Net::HTTP|(?<![.\w])fetch\s*\(|https?\.get\("
    r"|file_get_contents\(\s*['\"]https?:|LWP::|HTTP::Tiny"
)
_DECODES = Pattern(
    r"b64decode|decode_base64|base64_decode|urlsafe_decode64|(?:strict_)?decode64|fromhex|unhexlify|atob\s*\(|gzinflate"
    r"|str_rot13|rot13|['\"]base64['\"]|marshal\.loads|zlib\.decompress"
)
_LANGUAGE = Pattern(r"node|ruby|perl|php|lua")
_CONNECTS = Pattern(r"\b(?:Socket|socket|fsockopen|TCPSocket|net\.connect|createConnection)\b")
_PIPES = Pattern(r"require\(\s*['\"](?:node:)?(?:net|tls)['\"]\s*\).*\.pipe\(", DOTALL)
_IMPORTS = Pattern(
    r"\bimport\s*\(?\s*(?:[\w*{},\s]+\bfrom\s*)?['\"]https?://(?!deno\.land|jsr\.io|esm\.sh|cdn\.jsdelivr\.net|unpkg\.com)"
)


def runs_foreign(builder: EffectsBuilder, text: str, evals: Pattern = _EVALS) -> None:
    """Code that evaluates fetched or decoded text."""
    for pattern, danger in ((_LOADS, "remote-code"), (_DECODES, "obfuscated")) if evals.search(text) else ():
        if pattern.search(text):
            builder.danger(danger)


def visible(builder: EffectsBuilder, text: str, language: str) -> None:
    """The visible effects of a script in a language, and EXECUTE."""
    from assent.effects.code.dataflow.script_effects import script_effects

    builder.execute()
    try:
        script_effects(builder, text, language)
    except RecursionError:
        builder.gap("limit", "the code is nested too deep to be read: split it")


def script(builder: EffectsBuilder, text: str, program: str) -> None:
    """A file of code in a language other than shell and Python."""
    match = _LANGUAGE.search(program)
    if match is not None and match[0] == "node":
        node_code(builder, text)
    else:
        scan(builder, text, match[0] if match is not None else "")


def scan(builder: EffectsBuilder, word: Word, language: str = "") -> None:
    """EXECUTE, with the files, commands and hosts visible in the text."""
    builder.execute()
    for text in values(word):
        if text is None:
            continue
        if language:
            visible(builder, text, language)
            if builder.script_folder:
                continue  # in a longer text, a match is rarely a file or a command
        text = text[:LONGEST]
        for pattern, operation in ((_READS, READ), (_WRITES, WRITE), (_DELETES, DELETE)):
            builder.paths(operation, pattern.findall(text), recursive=operation is DELETE)
        for sign, name in _OPENS.findall(text):
            builder.path(READ if sign == "<" else WRITE, name)
        for match in _SCRIPTS.finditer(text):
            if any(map(str.isalpha, match["script"])) and not _STATEMENT.match(match["script"]):
                builder.shell(match["script"])
        for match in _LISTS.finditer(text):
            builder.shell(" ".join(f"'{word}'" for word in _STRING.findall(match["words"])))
        for name in _PLACE.findall(text)[:_MOST_PLACES]:
            builder.path(READ, name)
            if name.startswith("/."):
                builder.path(READ, "~" + name)
        for script in (*(_TICKS.findall(text) if language != "node" else ()), *_REMOVES.findall(text)):
            builder.shell(script)
        for url in _FETCHES.findall(text):
            builder.fetch(url)
        runs_foreign(builder, text)
        if (_CONNECTS.search(text) or _PIPES.search(text)) and _SCRIPTS.search(text):
            builder.danger("reverse-shell")
        if language == "node" and _IMPORTS.search(text):
            builder.danger("remote-code")


# ---------------------------------------------------------------- forms that only print

_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_PLAIN_STRING = r"(?:'[^'\\$#@`]*'|\"[^\"\\$#@`{]*\")"
_ITEM = rf"\(?(?:{_NUMBER}|{_PLAIN_STRING})\)?"
_SUM = rf"{_ITEM}(?: ?[-+*/%.,] ?{_ITEM})*"
_NODE = (
    rf"(?:process\.(?:version(?:s(?:\.\w+)?)?|platform|arch|cwd\(\))|typeof\s+[A-Za-z]\w*|Math\.\w+\({_SUM}\)|{_SUM})"
)
_PURE = {
    "node": re.compile(rf"\s*(?:console\.log\(\s*{_NODE}(?:,\s*{_NODE})*\)|{_NODE})\s*;?\s*"),
    "perl": re.compile(rf"\s*(?:print|say)\b\s*\(?\s*(?:{_SUM}|\$\]|\$\^V)\s*\)?\s*;?\s*"),
    "ruby": re.compile(rf"\s*(?:puts|print|p)\b\s*\(?\s*(?:{_SUM}|RUBY_VERSION)\s*\)?\s*;?\s*"),
    "php": re.compile(rf"\s*(?:echo|print)\b\s*\(?\s*(?:{_SUM}|PHP_VERSION|phpversion\(\))\s*\)?\s*;?\s*"),
    "lua": re.compile(rf"\s*print\s*\(\s*(?:{_SUM}|_VERSION)\s*\)\s*;?\s*"),
}


def _code(builder: EffectsBuilder, word: Word, language: str) -> None:
    if not all(text is not None and len(text) <= LONGEST and _PURE[language].fullmatch(text) for text in values(word)):
        scan(builder, word, language)


perl_code, ruby_code, php_code, lua_code = (
    partial(_code, language=language) for language in ("perl", "ruby", "php", "lua")
)


def node_code(builder: EffectsBuilder, word: Word) -> None:
    """JavaScript. Only for node can it be proved: other runtimes load settings of the folder."""
    texts = values(word)
    if builder.program not in ("node", "nodejs") or not all(text is not None and _PURE["node"].fullmatch(text) is None
                                                          for text in texts):  # fmt: skip
        _code(builder, word, "node")
        return
    from assent.effects.code.node import is_harmless  # loaded for node only

    before = len(builder.effects)
    if all(text is not None and is_harmless(builder, text) for text in texts):
        builder.data("")
    else:
        del builder.effects[before:]
        _code(builder, word, "node")


# ---------------------------------------------------------------- command lines

_NODE_OPTIONS = options_of(
    """-e,--eval=CODE:node -p,--print=CODE:node -c,--check -v!prints -h!prints --no-warnings --trace-warnings
    --experimental-vm-modules --experimental-strip-types --enable-source-maps --max-old-space-size=TEXT
    --stack-trace-limit=TEXT --input-type=TEXT -r,--require=SCRIPT --import=SCRIPT --loader=SCRIPT
    --experimental-loader=SCRIPT --env-file=READ!acts --env-file-if-exists=READ!acts -C,--conditions=TEXT!acts
    --expose-gc!acts --inspect[=TEXT]!acts --unhandled-rejections=TEXT"""
)
_OPTIONS = {
    "ruby": options_of("-e=CODE:ruby -v!prints -w -W -h!prints -c!acts"),
    "php": options_of("-r=CODE:php -v!prints -i!acts!danger:prints-secret -m!prints -h!prints -n -l=READ --ini!prints"),
    "lua": options_of("-e=CODE:lua -v!prints -W"),
}


def node(line: CommandLine) -> None:
    """`node`, `bun`, `deno`: code in `-e` and `-p`, or a file."""
    words = line.words
    if line.program in ("bun", "deno") and words[:1] == ["eval"]:
        for word in words[1:2]:
            node_code(line.builder, word)
        return
    parsed = _started(line, _NODE_OPTIONS)
    for word in parsed.values("--print"):
        text = literal(word)
        if text is not None and "process.env" in text:
            visible(line.builder, f"console.log({text})", "node")
    if parsed.has("-c") and len(parsed.operands) == 1 and not parsed.doubts:
        line.builder.path(READ, parsed.operands[0])
    else:
        _rest(line, parsed)


def interpreter(line: CommandLine) -> None:
    """`ruby`, `php`, `lua`: code in an option, or a file; `php -l` only checks it."""
    parsed = _started(line, _OPTIONS[line.row.reader])
    if not parsed.values("-l"):
        _rest(line, parsed)


ruby = php = lua = interpreter


def _started(line: CommandLine, options: Options) -> Parsed:
    parsed = parse(line.words, options, style="posix")
    if parsed.doubts:
        line.builder.execute()
    else:
        line.builder.argv = tuple(parsed.operands)
    return line.apply_parsed(parsed)


def _rest(line: CommandLine, parsed: Parsed) -> None:
    """What runs if no code is given: a file, or standard input."""
    if any(given.option.role.startswith("CODE") for given in parsed.given):
        return
    if parsed.operands and shown(parsed.operands[0]) != "-":
        line.builder.script_file(parsed.operands[0])
    elif parsed.operands or not (parsed.helps or any(given.option.prints for given in parsed.given)):
        line.builder.execute()  # `ruby -v -` prints its version and then runs standard input


# ---------------------------------------------------------------- perl

_PERL = options_of(
    "-e,-E=TEXT -n -p -i[=TEXT] -l[=TEXT] -0[=TEXT] -a -F=TEXT -w -W -s!acts -t -T -c!acts -v!prints -V[=TEXT]!acts"
    " -h!prints -M=TEXT -m=TEXT -I=TEXT!acts -C[=TEXT] -X -u!acts -U!acts -S!acts -x[=TEXT]!acts -d[=TEXT]!acts"
)
_BODY = r"(?:[^/\\@`$(]|\\[^@`$]|\$(?=[/|)])|\((?!\?+[\{pP]|\*))*"
_REPLACEMENT = r"(?:[^/\\@`$]|\\.|\$[0-9&](?![\[{-]))*"
_EDIT = Pattern(
    rf"\s*(?:s/{_BODY}/{_REPLACEMENT}/[gimsx]*"
    rf"|print(?: (?:if|unless) (?:/{_BODY}/[imsx]*|\$\. ?[<>=]+ ?[0-9]+|[0-9]+ ?\.\. ?[0-9]+))?)\s*"
)
_MAGIC = Pattern(r"[|<>]|^[\s+&]|\s$")
_LETTER = Pattern(r"0(?:x[0-9A-Fa-f]*|[0-7]*)|l[0-7]*|C[0-9A-Za-z]*|[anpwWXtT]|(?P<rest>.+)", DOTALL)


def _apart(words: list[Word]) -> list[Word]:
    """The words with clusters split as perl does: `-0777pe` is `-0777 -p -e`."""
    out: list[Word] = []
    code = False  # the next word is the code of `-e`
    for index, word in enumerate(words):
        if code:
            out.append(word)
            code = False
            continue
        if not isinstance(word, str) or not word.startswith("-") or word == "-" or word.startswith("--"):
            return [*out, *words[index:]]
        out += ["-" + (match["rest"] or match[0]) for match in _LETTER.finditer(word[1:])]
        code = out[-1] in ("-e", "-E")
    return out


# Perl that removes every line.
_BLANKS = Pattern(
    r"(?:^|[;{\s])(?:\$_\s*=\s*(?:\"\"|''|q\(\)|undef)|undef\s*\(?\s*\$_|s([/|#,])\^?\.[*+]\$?\1\1\w*)"
    r"\s*\)?\s*(?:;|$)"
)


def perl(line: CommandLine) -> None:
    """`perl`: one-line edits and filters are read, other code is scanned. Operands are opened by perl's own rules."""
    parsed = line.apply_parsed(parse(_apart(line.words), _PERL, style="posix"))
    builder, codes = line.builder, parsed.values("-e")
    if not codes:
        _rest(line, parsed)
        return
    simple = not parsed.doubts and not parsed.has("-M", "-m", "-F")
    loops = parsed.has("-n", "-p")
    for code in codes:
        text = literal(code)
        text = text if text is not None and len(text) <= LONGEST else None
        edits = loops and text is not None and all(map(_EDIT.fullmatch, text.rstrip().rstrip(";").split(";")))
        if not (simple and (edits or (text is not None and _PURE["perl"].fullmatch(text)))):
            scan(builder, code, "perl")
    if parsed.has("-i") and loops and _prints_nothing(codes, always=parsed.has("-p")):
        builder.danger(EMPTIES)
    for word in parsed.operands if loops else []:
        _operand(builder, word, parsed)


def _prints_nothing(codes: list[Word], *, always: bool) -> bool:
    """Whether perl's loop prints no line of a file. `always`: it prints `$_` after every round."""
    text = ";".join(map(shown, codes))
    return _BLANKS.search(text) is not None if always else "print" not in text and "say" not in text


def _operand(builder: EffectsBuilder, word: Word, parsed: Parsed) -> None:
    text = literal(word)
    if text is None or _MAGIC.search(text):
        builder.execute()  # perl runs a name that ends in a pipe
    apply(builder, "EDIT" if parsed.has("-i") else "READ", word)
    for suffix in parsed.values("-i"):
        if text is not None and isinstance(suffix, str) and suffix and "*" not in suffix and "/" not in suffix:
            builder.path(WRITE, text + suffix)
        elif suffix:
            builder.execute()
