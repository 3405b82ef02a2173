"""The tokens of JavaScript (None if a text could also be cut another way), and the names that node defines."""

from __future__ import annotations

from assent.contract import Operation, Pattern
from assent.effects.shell.commands.command_effects import LIST, READ, WRITE

_SPACE = Pattern(r"[ \t\n\r]+|//[^\n\r\u2028\u2029]*|/\*(?s:.*?)\*/")
_NAME = Pattern(r"[A-Za-z_$][A-Za-z0-9_$]*")
_NUMBER = Pattern(r"(?:0[xX][0-9a-fA-F]+|[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![A-Za-z0-9_$.])")
_STRING = Pattern(r"'(?:[^'\\\n\r]|\\[^\r])*'|\"(?:[^\"\\\n\r]|\\[^\r])*\"")
_REGEX = Pattern(r"/(?:[^/\\\[\n\r]|\\[^\n\r]|\[(?:[^\]\\\n\r]|\\[^\n\r])*\])+/[a-z]*")
_MARK = Pattern(
    r"=>|\.\.\.|\?\.(?![0-9])|===|!==|==|!=|<=|>=|&&=|\|\|=|\?\?=|&&|\|\||\?\?|\+\+|--|\*\*|[+\-*/%&|^]=|<<|>>>|>>"
    r"|[{}()\[\];,<>+\-*/%&|^!~?:=.]"
)
_REFUSED = Pattern(r"<!--|-->|^#!|[^\x20-\x7e\n\r\t\x80-\ud7ff\ue000-\U0010ffff]|[\u2028\u2029\ufeff]")
_BEFORE_REGEX = frozenset("return typeof case in delete void throw else do instanceof".split())
_EITHER = frozenset("of await yield new extends default async let static get set".split())  # a word or a name
_STATEMENTS = frozenset({"if", "while", "for", "with"})
_DEPTH = 20
_OPENS = {"(": ")", "[": "]", "{": "}"}

NAME, NUMBER, TEXT, REGEX, MARK = "name", "number", "text", "regex", "mark"
Token = tuple[str, str]
"""Kind and text; of a string the kind is TEXT and the text what it holds, `\\` in it where it has escapes."""


def tokens(text: str, depth: int = 0) -> list[Token] | None:
    """The tokens of a text. A template is its pieces, joined by `+`."""
    if depth > _DEPTH or _REFUSED.search(text):
        return None
    out: list[Token] = []
    opened: list[bool] = []  # for each open parenthesis, whether it holds a statement's head
    closed = False  # whether the last `)` closed such a head
    at = 0
    while at < len(text):
        letter = text[at]
        space = _SPACE.match(text, at)
        if space is not None:
            at = space.end()
            continue
        if letter == "`":
            found = _template(text, at, depth) if not out or not _is_value(out[-1]) else None  # a tag is a call
            if found is None:
                return None
            out += found[0]
            at = found[1]
            continue
        starts = letter == "/" and _starts_regex(out, closed)
        kind, word = _next(text, at, (REGEX, _REGEX) if starts else (MARK, _MARK)) if starts is not None else ("", "")
        if not word or (word == ")" and not opened):
            return None
        if word == "(":
            opened.append(bool(out) and out[-1][0] == NAME and out[-1][1] in _STATEMENTS)
        elif word == ")":
            closed = opened.pop()
        out.append((kind, word[1:-1] if kind == TEXT else word))
        at += len(word)
    return out


def _next(text: str, at: int, other: tuple[str, Pattern]) -> Token:
    for kind, pattern in ((NAME, _NAME), (NUMBER, _NUMBER), (TEXT, _STRING), other):
        match = pattern.match(text, at)
        if match is not None:
            return kind, match[0]
    return "", ""


def _is_value(token: Token) -> bool:
    kind, word = token
    return kind != MARK or word in (")", "]", "}")


def _starts_regex(out: list[Token], closed: bool) -> bool | None:
    """Whether a slash begins a regular expression; None if the tokens do not tell."""
    if not out:
        return True
    kind, word = out[-1]
    if kind == NAME:
        is_member = len(out) > 1 and out[-2] in ((MARK, "."), (MARK, "?."))
        return None if word in _EITHER and not is_member else word in _BEFORE_REGEX and not is_member
    if kind == MARK and (word in ("}", "++", "--") or (word == ")" and closed)):
        return None
    return kind == MARK and word not in (")", "]")


def _template(text: str, at: int, depth: int) -> tuple[list[Token], int] | None:
    out: list[Token] = [(MARK, "("), (TEXT, "\\")]
    at += 1
    while at < len(text):
        if text[at] == "`":
            return [*out, (MARK, ")")], at + 1
        if text[at] == "\\":
            at += 2
        elif text.startswith("${", at):
            end = _closing(text, at + 2)
            inner = tokens(text[at + 2 : end], depth + 1) if end > 0 else None
            if not inner:
                return None
            out += [(MARK, "+"), (MARK, "("), *inner, (MARK, ")")]
            at = end + 1
        else:
            at += 1
    return None


def _closing(text: str, at: int) -> int:
    """The place of the brace that ends a template's expression; -1 if a brace or quote in it makes it uncertain."""
    end = text.find("}", at)
    return -1 if end < 0 or any(mark in text[at:end] for mark in "{'\"`/\\") else end


def pairs(found: list[Token]) -> dict[int, int] | None:
    """Where each parenthesis, bracket and brace ends; None if they do not match."""
    out: dict[int, int] = {}
    waiting: list[int] = []
    for index, (kind, word) in enumerate(found):
        if kind != MARK:
            continue
        if word in _OPENS:
            waiting.append(index)
        elif word in (")", "]", "}"):
            if not waiting or _OPENS[found[waiting[-1]][1]] != word:
                return None
            out[waiting.pop()] = index
    return None if waiting else out


# ---------------------------------------------------------------- globals, modules and methods

CALLED = frozenset(
    "String Number Boolean parseInt parseFloat isNaN isFinite encodeURIComponent decodeURIComponent".split()
)
MADE = frozenset({"Set", "Map", "Date", "Array", "Error"})
ROOTS: dict[str, frozenset[str]] = {
    "console": frozenset("log error warn info table dir".split()),
    "JSON": frozenset({"parse", "stringify"}),
    "Object": frozenset("keys values entries fromEntries".split()),
    "Array": frozenset({"isArray", "from", "of"}),
    "Math": frozenset("round floor ceil max min abs trunc sqrt pow log log2 log10 random sign".split()),
    "Number": frozenset({"isInteger", "isFinite", "isNaN", "parseFloat", "parseInt"}),
    "Date": frozenset({"now", "parse"}),
    "String": frozenset({"fromCharCode"}),
    "process": frozenset({"cwd", "exit"}),
}
FILES: dict[str, tuple[Operation, ...]] = {
    "readFileSync": (READ,),
    "existsSync": (LIST,),
    "statSync": (LIST,),
    "readdirSync": (LIST,),
    "writeFileSync": (WRITE,),
    "appendFileSync": (WRITE,),
    "mkdirSync": (WRITE,),
}
MODULES: dict[str, frozenset[str]] = {
    "fs": frozenset(FILES),
    "path": frozenset("join resolve basename dirname extname relative normalize".split()),
    "zlib": frozenset("gzipSync gunzipSync brotliCompressSync brotliDecompressSync deflateSync inflateSync".split()),
}
INSIDE = frozenset(
    """constructor prototype caller callee arguments call apply bind getPrototypeOf setPrototypeOf require mainModule
    getOwnPropertyDescriptor getOwnPropertyDescriptors getOwnPropertyNames getOwnPropertySymbols defineProperty
    defineProperties""".split()
)
EVENTS = frozenset({"data", "end", "close", "error", "readable"})
READ_FIELDS = frozenset({"encoding", "withFileTypes", "recursive", "true", "false", "null"})
ENCODINGS = frozenset({"utf8", "utf-8", "latin1", "ascii", "base64", "hex", "binary", "utf16le"})
# Names that node defines: binding one of them elsewhere does not make it the text's own.
GLOBALS = frozenset(
    """globalThis global window self Function eval Reflect Proxy WebAssembly Symbol Promise Intl Atomics Buffer URL
    ArrayBuffer SharedArrayBuffer DataView BigInt RegExp WeakMap WeakSet WeakRef FinalizationRegistry Iterator
    TypeError RangeError SyntaxError ReferenceError EvalError URIError AggregateError escape unescape encodeURI
    decodeURI this super class import export arguments with debugger yield await async enum module exports require
    __filename __dirname fetch setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate
    queueMicrotask structuredClone performance navigator crypto Headers Request Response FormData WebSocket EventSource
    Event EventTarget MessageChannel MessagePort BroadcastChannel Blob File TextEncoder TextDecoder AbortController
    AbortSignal CompressionStream DecompressionStream ReadableStream WritableStream TransformStream Worker atob btoa
    assert async_hooks buffer child_process cluster constants dgram diagnostics_channel dns domain events fs http http2
    https inspector net os path perf_hooks process punycode querystring readline repl sea sqlite stream string_decoder
    sys test timers tls trace_events tty url util v8 vm wasi worker_threads zlib console JSON Object Array Math Number
    Date String Boolean Map Set Error parseInt parseFloat isNaN isFinite Bun Deno Float32Array Float64Array Int8Array
    Int16Array Int32Array Uint8Array Uint8ClampedArray Uint16Array Uint32Array BigInt64Array BigUint64Array Storage
    localStorage sessionStorage DOMException SuppressedError DisposableStack AsyncDisposableStack
    Float16Array""".split()
)
