"""The parts of Python's library that compute, or only look at what is recorded elsewhere, as data.

A name stands here if nothing that it does, or that its result offers under a public name, runs a program, loads code,
reaches the network or opens a file by itself. It counts only where no file poses as the module."""

from __future__ import annotations

_NAMES = {
    "ast": "parse literal_eval dump walk unparse iter_child_nodes iter_fields get_docstring",
    "base64": "b64encode b64decode urlsafe_b64encode urlsafe_b64decode standard_b64decode b32encode "
    "b32decode b16encode b16decode",
    "binascii": "hexlify unhexlify crc32 Error",
    "bisect": "bisect bisect_left bisect_right insort",
    "collections": "Counter defaultdict OrderedDict deque namedtuple ChainMap",
    "csv": "reader writer DictReader DictWriter QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC Error "
    "excel excel_tab",
    "datetime": "datetime date time timedelta timezone UTC MINYEAR MAXYEAR",
    "decimal": "Decimal ROUND_HALF_UP ROUND_HALF_EVEN ROUND_DOWN ROUND_UP",
    "difflib": "unified_diff ndiff context_diff SequenceMatcher get_close_matches",
    "fnmatch": "fnmatch fnmatchcase filter",
    "fractions": "Fraction",
    "functools": "reduce partial lru_cache cache cmp_to_key",
    "hashlib": "md5 sha1 sha224 sha256 sha384 sha512 blake2b blake2s sha3_256 sha3_512",
    "heapq": "heappush heappop heapify nlargest nsmallest merge",
    "html": "escape unescape",
    "io": "StringIO BytesIO",
    "json": "load loads dump dumps JSONDecodeError",
    "math": "*",
    "operator": "itemgetter add sub mul truediv floordiv mod neg",
    "os": "sep linesep getcwd",
    "os.path": "basename dirname join split splitext normpath relpath commonprefix commonpath isabs sep",
    "pprint": "pprint pformat pp",
    "random": "random randint randrange choice choices shuffle sample uniform gauss seed",
    "re": "compile match search sub subn split findall finditer fullmatch escape error I IGNORECASE M "
    "MULTILINE S DOTALL X VERBOSE A ASCII U UNICODE",
    "statistics": "mean fmean median median_low median_high mode multimode stdev pstdev variance pvariance quantiles",
    "string": "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits punctuation "
    "printable whitespace capwords",
    "struct": "pack unpack calcsize unpack_from iter_unpack error",
    "textwrap": "dedent indent fill wrap shorten",
    "tomllib": "load loads TOMLDecodeError",
    "unicodedata": "name category normalize lookup bidirectional combining decimal digit numeric east_asian_width",
    "urllib.parse": "quote unquote quote_plus unquote_plus urlencode urlparse urlsplit parse_qs parse_qsl "
    "urljoin urlunparse urlunsplit",
    "uuid": "uuid4 uuid5 UUID NAMESPACE_DNS NAMESPACE_URL",
    "zlib": "crc32 adler32 compress decompress",
}
_HARMLESS = frozenset(f"{module}.{name}" for module, names in _NAMES.items() for name in names.split())
# Read as they stand, with what they open or list on record.
_RECORDED = frozenset({"glob", "os", "os.path", "pathlib"})
MODULES = frozenset(_NAMES) | _RECORDED
LOOKS = frozenset(
    """os.listdir os.scandir os.walk os.stat os.path.exists os.path.isfile os.path.isdir os.path.islink
    os.path.lexists os.path.getsize os.path.getmtime glob.glob glob.iglob""".split()
)


def is_harmless(path: str) -> bool:
    """Whether a dotted path is such a name, or something public behind one."""
    module, _, rest = path.partition(".")
    if f"{module}.*" in _HARMLESS:
        return "." not in rest
    while path:
        if path in _HARMLESS:
            return True
        path = path.rpartition(".")[0]
    return False
