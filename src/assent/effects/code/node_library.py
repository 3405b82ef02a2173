"""What node offers to code: the globals, modules and methods that are known, and those that lead inside."""

from __future__ import annotations

from assent.contract import Operation
from assent.effects.shell.commands.command_effects import LIST, READ, WRITE

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
# What node holds under a name of its own, so that binding it elsewhere does not make it the text's own.
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
