"""Secrets that a name announces: assignments, flags, headers, passwords in addresses, keys such as `clientSecret`.

Reads text, not the shell: it must find the same secrets in a command, a configuration file, a script or JSON within
JSON."""

from __future__ import annotations

from collections.abc import Iterator

from assent.contract import Pattern, re
from assent.trail import shapes
from assent.trail.shapes import Span

# The forms of a value. The first match is taken, and nothing after it is required, so there is no backtracking.
_VALUE = (
    r"(?:‹redacted: [a-z -]*›"
    r"|\\+\"(?:[^\"\\]|\\+[^\"\\])*(?:\\+\"|$)"  # a string within a string
    r"|\$?'(?:[^'\\]|\\[\s\S])*(?:'|$)"
    r"|\"(?:[^\"\\]|\\[\s\S])*(?:\"|$)"
    r"|`[^`]*(?:`|$)"
    r"|\\[\s\S]"
    r"|[^\s'\"\\`;&|<>(){},\]])"
    r"(?:‹redacted: [a-z -]*›|\\\"|\$?'(?:[^'\\]|\\[\s\S])*(?:'|$)|\"(?:[^\"\\]|\\[\s\S])*(?:\"|$)|\\[\s\S]"
    r"|[^\s'\"\\`;&|<>()])*"
)
# Words that announce a secret, in lower case; a text without them needs no further search.
HINTS = (*"pass pw secret token key auth cred cookie bearer jwt sig sess otp pat= pat:".split(), "pat ")
_sources = {
    "assigned": r"(?<![\w.-])(-{0,2}[$@]?[A-Za-z_][\w.-]{0,79}?)(?:\\*[\"'\]]){0,2}\s{0,4}"
    r"(?::=|=>|={1,3}|:)[ \t]{0,4}(?=[^\s=])",
    "value": _VALUE,
    "quoted": r"\\+\"(?:[^\"\\]|\\+[^\"\\])*(?:\\+\"|$)|'(?:[^'\\]|\\[\s\S])*(?:'|$)|\"(?:[^\"\\]|\\[\s\S])*(?:\"|$)",
    "flag": r"(?<![\w-])(-{1,2}[A-Za-z][\w-]{2,60})(?:\\?\n|[ \t])+(?=[^\s&|;<>)-])",
    "listed": r"[\"']?(-{1,2}[A-Za-z][\w-]{2,60})[\"']\s*,\s*(?=[\"'])",
    "header": r"(?i)\b((?:proxy-)?authorization|cookie|set-cookie)\b[\"']?\s*[:=,]\s*[\"']?([^\n\"']{4,})",
    "bearer": r"(?i)\b(?:bearer|token)[ \t]+([A-Za-z0-9._~+/=-]{12,})",
    "address": r"[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s/:@'\"<>]{0,200}:(?!\d{1,5}(?:[/?#,\s'\"]|$))([^\s'\"<>]{1,500})@",
    "set": r"(?<![\w.-])(?:set|add|put|config)[ \t]+(?:--?[\w-]+[ \t]+)*"
    r"(?!(?:set|get|unset|list|view|use)\b)([\w./:@-]{3,120})[ \t]+(?=[^\s&|;<>)-])",
    "user": r"(?<![\w-])(?:-u|-U|--user|--proxy-user)(?:[ \t]*=?[ \t]*)([\"']?)([^\s:'\"]{0,80}):(?!//)",
    "piped": r"(?:\becho|\bprintf)[ \t]+(?:-\w+[ \t]+)*(?:(?:'%s(?:\\n)?'|\"%s(?:\\n)?\"|%s)[ \t]+)?(VALUE)[ \t]*\|"
    r"(?=[^|\n]{0,200}(?:-S\b|--stdin\b|--password-stdin|--with-token|chpasswd|cryptsetup|smbpasswd|secret\b))",
    "here": r"(?:-S\b|--stdin\b|--password-stdin|--with-token|chpasswd|cryptsetup)[^|\n]{0,200}<<<[ \t]*(?=\S)",
    "program": r"(?<![\w.-])(?:[^\s'\"]{0,80}/)?(NAMES)(?=[ \t])",
}
# Options that carry a password in these programs alone.
# program → options whose value may be attached, options whose value is the next word
_OPTIONS: dict[str, tuple[str, str]] = {
    "mysql": ("-p", ""),
    "mariadb": ("-p", ""),
    "sshpass": ("-p", "-p"),
    "docker": ("", "-p"),
    "podman": ("", "-p"),
    "skopeo": ("", "-p"),
    "helm": ("", "-p"),
    "buildah": ("", "-p"),
    "redis-cli": ("", "-a"),
    "valkey-cli": ("", "-a"),
    "7z": ("-p", ""),
    "rar": ("-p -hp", ""),
    "unrar": ("-p", ""),
    "unzip": ("-P", "-P"),
    "zip": ("", "-P"),
    "zipcloak": ("", "-P"),
    "ldap": ("", "-w"),
    "mongo": ("", "-p"),
    "sqlcmd": ("-P", "-P"),
    "bcp": ("-P", "-P"),
    "openssl": ("", "-k -K"),
    "kubectl": ("", ""),
    "oc": ("", "-p"),
    "az": ("", "-p"),
    "security": ("", "-w"),
    "gh": ("", "-b --body"),
    "curl": ("", ""),
    "lftp": ("", ""),
    "ssh-keygen": ("", "-N -P"),
    "keytool": ("", "-storepass -keypass -srcstorepass -deststorepass"),
    "evil-winrm": ("", "-p"),
    "crackmapexec": ("", "-p"),
}
# Passwords without an option, by program; in addition to the `user:password` of curl and ftp.
_ODD_FORMS = {
    "openssl": r"\bpass:(?=\S)",
    "kubectl": r"--from-literal[= ][\"']?[\w.-]+=(?=\S)",
    "oc": r"--from-literal[= ][\"']?[\w.-]+=(?=\S)",
    "vault": r"(?<=\s)[\w.-]+=(?=[^\s@-])",
    "smbclient": r"-U[ =]?[^\s%]+%(?=\S)",
    "htpasswd": r"-\w*b\w*[ \t]+(?:-\S+[ \t]+)*\S+[ \t]+\S+[ \t]+(?=\S)",
    "xfreerdp": r"/p:(?=\S)",
    "nmcli": r"\bpsk[ \t]+(?=\S)",
    "wpa_passphrase": r"^[ \t]+\S+[ \t]+(?=\S)",
}
_ODD = ("curl", "ftp", "openssl", "kubectl", "vault", "smbclient", "htpasswd", "xfreerdp", "nmcli", "wpa_passphrase")
_MENTIONS = tuple(
    each + " " if each in ("oc", "az", "gh", "zip", "bcp", "rar", "ftp") else each
    for each in (*_OPTIONS, *_ODD, "<<<", "-S", "chpasswd", "--with-token", "-stdin")
)
_BARE = ("vault", "psk", "wpa_")  # a password may be there without any option
_sources["piped"] = _sources["piped"].replace("VALUE", _VALUE)
_sources["program"] = _sources["program"].replace(
    "NAMES", "|".join(f"{each}[\\w-]*" for each in dict.fromkeys((*_OPTIONS, *_ODD)))
)
_NEEDS = {"docker": "login", "podman": "login", "skopeo": "login", "helm": "login", "buildah": "login", "oc": "login"}
_NEEDS |= {"az": "login", "gh": "secret", "openssl": "enc"}
_REFERENCE = r"\$(?:[A-Za-z_]\w*|[0-9@*#]|\{[A-Za-z_]\w*\}|\()|%[A-Za-z_]\w*%|\{\{|<[A-Za-z_ -]+>"
_EMPTY = frozenset(
    "true false null none nil undefined yes no on off str string int bool bytes any optional self this new await not "
    "required optional str, string, string; ''".split()
) | {"", "''", '""', "*", "***", "...", "…", "-", "=", "==", "|", ">", "[", "{", "("}
_JOINING = ("-c", "--", "-S", "-E", "-n", "-H")  # `bash -c mysql …`, `sudo -E mysql …`
NEAR = 2000  # characters to search for the end of a command, or the start of a quote
_PROSE = ("secrets", "credentials", "creds", "tokens", "signature")
_LONG = ("password", "passwd", "pass", "token", "secret", "key", "passphrase")  # -password, as Go and Java write it
_HEADERS = ("authorization", "proxy-authorization", "cookie", "set-cookie")  # whole lines, see `_headers`
_CAMEL = Pattern(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SPLIT = Pattern(r"[^a-z0-9]+")

# Endings of words for secrets.
_ENDINGS: tuple[tuple[str, str], ...] = (
    ("password", "password"),
    ("passwd", "password"),
    ("passwort", "password"),
    ("passcode", "password"),
    ("passphrase", "passphrase"),
    ("secret", "secret"),
    ("token", "token"),
    ("apikey", "api key"),
    ("accesskey", "access key"),
    ("secretkey", "secret key"),
    ("privatekey", "private key"),
    ("authkey", "auth key"),
    ("accountkey", "account key"),
    ("sharedkey", "shared key"),
    ("masterkey", "master key"),
    ("signingkey", "signing key"),
    ("encryptionkey", "encryption key"),
    ("credential", "credential"),
    ("credentials", "credential"),
    ("creds", "credential"),
    ("jsessionid", "session id"),
    ("sessid", "session id"),
    ("authorization", "authorization"),
)
# Whole words, alone or at the end of a name.
_WORDS = {"jwt": "token", "bearer": "token", "cookie": "cookie", "cookies": "cookie", "otp": "one-time password"}
# Words at the end of a name, after another word: `DB_PASS`, not `pass`; `DB_PWD`, not the shell's `PWD`.
_SECOND = {"pass": "password", "pwd": "password", "pw": "password", "auth": "authorization", "pat": "token"}
# `key` is a secret after one of these, otherwise it may mean anything.
_KEYS = frozenset(
    "api access secret private auth encryption signing master account shared service storage license client deploy app "
    "application consumer subscription admin root hmac aes ssh webhook session crypt cipher openai anthropic stripe "
    "gemini google azure openrouter mistral groq cohere sendgrid mailgun twilio datadog dd amplitude algolia mapbox "
    "sentry segment rapidapi functions host jwt wg psk".split()
)
# A name that ends in one of these is about a secret, but is none.
_ABOUT = frozenset(
    "file files path dir directory folder url uri endpoint name names id ids arn ref count limit length len size "
    "min max type types ttl expiry expires expiration age env var policy hash header field issuer prefix suffix "
    "store manager provider required enabled version algorithm alg scheme stdin fd command cmd helper script "
    "prompt budget usage rate index position mode format timeout class classes list regex pattern audience scope "
    "scopes reset strength label hint input form page error errors valid validator factory service server client "
    "method fn func function jar".split()
)
# A name that begins with one of these counts, asks or negates.
_FIRST = frozenset(
    "no ask prompt has is needs requires require max min num total count pad eos bos unk cls sep mask stop special "
    "per next prev forgot reset show hide toggle save load".split()
)
# Keys that hold secrets; in a text these words may mean anything.
_PLAIN = {"pass": "password", "pwd": "password", "pw": "password", "secrets": "secret", "auth_tokens": "token"}
_known: dict[str, str] = {}


def _pattern(name: str) -> re.Pattern[str]:
    return shapes.compiled(_sources[name])


def hinted(text: str) -> bool:
    lower = text.lower()
    return ("://" in text and "@" in text) or _says(lower) or _runs(text) or shapes.form_hinted(lower)


def _says(lower: str) -> bool:
    for hint in HINTS:  # a plain loop: half the time of any()  # noqa: SIM110
        if hint in lower:
            return True
    return False


def _runs(text: str) -> bool:
    if " -" not in text and "<<<" not in text and "|" not in text and not any(each in text for each in _BARE):
        return False
    for program in _MENTIONS:  # as above  # noqa: SIM110
        if program in text:
            return True
    return False


def find(text: str) -> Iterator[Span]:
    if "://" in text and "@" in text:
        yield from (_group(found, 1, "password") for found in _pattern("address").finditer(text))
    lower = text.lower()
    if _says(lower):
        yield from _assignments(text)
        yield from _headers(text)
    if _runs(text):
        yield from _programs(text)
    if shapes.form_hinted(lower):
        for start, end, kind in shapes.find_forms(text, lower):
            if not refers(text[start:end]):
                yield start, end, kind


def _group(found: re.Match[str], group: int, kind: str) -> Span:
    return found.start(group), found.end(group), kind


def _value(text: str, at: int, kind: str) -> Iterator[Span]:
    """The value at a position, unless it is empty or only a reference."""
    alone = text[max(at - 8, 0) : at].rstrip()[-1:] in (":", ",")  # in JSON and similar a string ends at its quote
    found = (alone and _pattern("quoted").match(text, at)) or _pattern("value").match(text, at)
    if found is None or _closes(text, at):
        return
    bare = found[0].strip("\"'\\").rstrip(",;.")
    path = bare.startswith(("/", "~", "./", "..")) or bare.endswith((".pem", ".key"))
    if (
        bare.lower() not in _EMPTY
        and not _refers(found[0], text[found.end() : found.end() + 1])
        and not (kind.endswith(" key") and path)
    ):
        yield *_inside(text, found.start(), found.end()), kind


def _inside(text: str, start: int, end: int) -> tuple[int, int]:
    """A value without its quotes, so that JSON stays JSON; a value of several pieces unchanged."""
    if _pattern("quoted").fullmatch(text, start, end) is None:
        return start, end
    opening = len(text[start:end]) - len(text[start:end].lstrip("\\")) + 1
    if end - start < 2 * opening or text[end - opening : end] != text[start : start + opening]:
        return start + opening, end
    return start + opening, end - opening


def _closes(text: str, at: int) -> bool:
    """Whether a quote ends a text, rather than begins one: `read -p "Password: " x`."""
    quote = text[at]
    if quote not in "\"'" or text[at + 1 : at + 2] not in ("", " ", "\n", ";", ")", "|", "&"):
        return False
    line = max(text.rfind("\n", max(at - NEAR, 0), at) + 1, at - NEAR, 0)
    return text.count(quote, line, at) % 2 == 1


def _refers(value: str, after: str) -> bool:
    """`$TOKEN`, `${TOKEN}`, `"$(cat f)"`, `<your token>`; `get_token(` and `os.environ[`, which are code."""
    inner = value.strip('"')
    if inner == "$" and after == "(":
        return True
    found = re.match(_REFERENCE, inner)
    if found is not None and (found[0].endswith(("(", "{")) or found.end() == len(inner)):
        return True
    return after in ("(", "[") and value.replace(".", "").replace("_", "").isalnum() and not value[0].isdigit()


def refers(value: str) -> bool:
    """Whether a value only says where the secret is."""
    return value.lower() in _EMPTY or _refers(value, "")


def _announced(name: str, sign: str) -> str:
    """The kind of secret that a name in a text announces; stricter than for a key: texts are also prose and code."""
    bare = name.lstrip("-$@").rpartition("/")[2].rpartition(":")[2]  # npm's //registry/:_authToken
    if name.lower() in _HEADERS or bare.lower() in _PROSE:
        return ""
    if name.startswith(("-D", "-P")):  # a property of Java, Maven or Gradle
        return secret_kind(name[2:], key=True)
    if name.startswith("-"):
        single = not name.startswith("--")
        return secret_kind(bare, key=True) if not single or (bare.islower() and bare.endswith(_LONG)) else ""
    if bare.lower() == "pass":
        return "password" if sign == "=" or bare == "pass" else ""
    return secret_kind(bare)


def _assignments(text: str) -> Iterator[Span]:
    for name in ("assigned", "flag", "listed", "set"):
        pattern = _pattern(name)
        found = pattern.search(text)
        while found is not None:
            after = found.end()
            tested = text[after : after + 1] in "+?" and text.endswith("${", 0, found.start())  # ${TOKEN:+set}
            if not tested and (kind := _announced(found[1], found[0].rstrip()[-1:])):
                for span in _value(text, after, kind):
                    yield span
                    after = span[1]  # a value is redacted as a whole: each part of a text is searched once
            found = pattern.search(text, after)


def _headers(text: str) -> Iterator[Span]:
    for found in _pattern("header").finditer(text):
        inner = found[2].strip()
        scheme, _, rest = inner.partition(" ")
        named = scheme.lower() in ("bearer", "basic", "token", "digest", "negotiate", "apikey", "key")
        if not _refers(rest.strip() if named else inner, ""):
            yield (found.start(2) + len(scheme) + 1 if named else found.start(2)), found.end(2), found[1].lower()
    for found in _pattern("bearer").finditer(text):
        if any(each.isdigit() for each in found[1]):
            yield _group(found, 1, "token")


def _programs(text: str) -> Iterator[Span]:
    if "|" in text and ("echo" in text or "printf" in text):
        for found in _pattern("piped").finditer(text):
            if not _refers(found[1], ""):
                yield _group(found, 1, "piped secret")
    if "<<<" in text:
        for found in _pattern("here").finditer(text):
            yield from _value(text, found.end(), "piped secret")
    done: dict[str, int] = {}  # program → how far its options were searched
    for found in _pattern("program").finditer(text):
        before = text[max(found.start() - 80, 0) : found.start()].split()[-1:]
        if before and before[0].startswith("-") and before[0] not in _JOINING:
            continue  # the value of an option: `find -name mysql -print`
        end = _end_of_command(text, found.end())
        yield from _of_program(text, found[1], max(found.end(), done.get(found[1], 0)), end)
        done[found[1]] = end


def _end_of_command(text: str, start: int) -> int:
    last = min(start + NEAR, len(text))
    return min((at for mark in ("\n", "|", ";", "&&") if (at := text.find(mark, start, last)) >= 0), default=last)


def _of_program(text: str, program: str, start: int, end: int) -> Iterator[Span]:
    row = next((each for each in _OPTIONS if program == each or program.startswith(each)), "")
    glued, apart = _OPTIONS.get(row, ("", ""))
    if _NEEDS.get(row, "") not in text[start:end]:
        apart = ""
    for options, after in ((glued, r"(?=[^\s=-])"), (apart, r"[ \t]+(?=[^\s-])")):
        for option in options.split():
            yield from _values(rf"(?<=[\s]){option}{after}", text, start, end)
    if program in ("ftp", "lftp") or program.startswith("curl"):
        for found in _pattern("user").finditer(text, start, end):
            yield from _value(text, found.end(), "password") if not found[1] else _to_quote(text, found.end(), found[1])
    odd = _ODD_FORMS.get("xfreerdp" if program.startswith("xfreerdp") else program)
    if odd and (program != "vault" or re.search(r"\b(?:put|write|patch)\b", text[start:end])):
        yield from _values(odd, text, start, end)


def _values(source: str, text: str, start: int, end: int) -> Iterator[Span]:
    for found in re.finditer(source, text[start:end]):
        yield from _value(text, start + found.end(), "password")


def _to_quote(text: str, start: int, quote: str) -> Iterator[Span]:
    end = text.find(quote, start)
    inner = text[start : end if end >= 0 else len(text)]
    if inner and not _refers(inner, ""):
        yield start, start + len(inner), "password"


def secret_kind(name: str, *, key: bool = False) -> str:
    """The kind of secret that a name announces; `""` for none. `key` says that it is a key of structured input."""
    if len(name) > 80:
        return ""
    known = _known.get(name)
    if known is None:
        if len(_known) > 2000:
            _known.clear()
        known = _known[name] = _kind(name)
    return known or (_PLAIN.get(name.lower(), "") if key else "")


def _kind(name: str) -> str:
    plain = name.replace("_", "a")
    if plain.isascii() and plain.isalpha() and name.islower():  # most keys, without a pattern
        words = [word for word in name.split("_") if word]
    else:
        words = [word for word in _SPLIT.split(_CAMEL.sub("_", name).lower()) if word and not word.isdigit()]
    harmless = (["old", "pwd"], ["oldpwd"], ["ssh", "auth"], ["by", "pass"])
    if not words or words[0] in _FIRST or words[-1] in _ABOUT or words in harmless:
        return ""
    if len(words) > 1 and words[-1] in _SECOND:
        return _SECOND[words[-1]]
    return next((kind for at, word in enumerate(words) if (kind := _word(word, words[:at]))), "")


def _word(word: str, before: list[str]) -> str:
    for ending, kind in _ENDINGS:
        if word.endswith(ending) or (word.startswith(("password", "passwd")) and ending == "password"):
            return kind
    if word in _WORDS:
        return _WORDS[word]
    if word == "key" and before and before[-1] in _KEYS:
        return f"{before[-1]} key"
    if word in ("sig", "signature") and (not before or before[0] in ("x", "amz")):
        return "signature"
    return ""
