"""Secrets at a place that a program's or a language's own form gives them: `cargo login …`, `IDENTIFIED BY '…'`.

Knows the places and nothing else: names that say "secret" are the business of `named`, tokens that of `shapes`. A row
is looked at only where its trigger stands in the text, in any case, and compiled the first time that happens."""

from __future__ import annotations

from collections.abc import Iterator

from assent.contract import Pattern, re
from assent.trail.shapes import Span

_GAP = r"[^\n|;&]{0,400}?"  # more of the same command
_WORD = r"(?:\"([^\"\n]+)\"|'([^'\n]+)'|([^\s'\"|;&<>()-][^\s|;&<>()]*))"  # as it is written, without its quotes
_QUOTED = r"(?:\"([^\"\n]+)\"|'([^'\n]+)')"


def _after(programs: str, place: str) -> str:
    """A word behind something that stands behind a program."""
    return rf"\b(?:{programs})\b{_GAP}(?:{place})[ \t]+(?!(?:login|logout|list|status|whoami|token)\b){_WORD}"


def _option(programs: str, options: str) -> str:
    """The value of an option of some programs, apart or glued to it."""
    return rf"\b(?:{programs})\b{_GAP}\s(?:{options})[ =]?[ \t]*{_WORD}"


_ROWS: tuple[tuple[str, str, str], ...] = (
    # Programs that take it as a plain word.
    *(
        (each, "token", _after(each, "auth[ \t]+token|login|auth|authtoken|add-authtoken"))
        for each in (
            "cargo",
            "wandb",
            "snyk",
            "ngrok",
            "flyctl",
            "vault",
            "fly",
            "doppler",
            "railway",
            "sentry-cli",
        )
    ),
    ("cloudflared", "token", _after("cloudflared", "service install|--token")),
    ("mysqladmin", "password", _after("mysqladmin", "password")),
    ("rabbitmqctl", "password", _after("rabbitmqctl", r"(?:add_user|change_password)[ \t]+\S+")),
    ("set-initial-password", "password", rf"set-initial-password[ \t]+{_WORD}"),
    ("http-basic.", "password", rf"\bhttp-basic\.\S+[ \t]+\S+[ \t]+{_WORD}"),
    ("net user", "password", rf"\bnet[ \t]+user[ \t]+[^\s/]+[ \t]+{_WORD}"),
    ("signin", "password", rf"\bop[ \t]+signin\b{_GAP}--raw[ \t]+{_WORD}"),
    ("encrypt_string", "secret", rf"\bencrypt_string[ \t]+(?:--\S+[ \t]+)*{_WORD}"),
    ("alias set", "secret key", rf"\bmc[ \t]+alias[ \t]+set[ \t]+\S+[ \t]+\S+[ \t]+\S+[ \t]+{_WORD}"),
    ("htpasswd", "password", rf"\bhtpasswd[ \t]+-\w*n\w*b\w*[ \t]+\S+[ \t]+{_WORD}"),
    ("htpasswd", "password", rf"\bhtpasswd[ \t]+-\w*b\w*n\w*[ \t]+\S+[ \t]+{_WORD}"),
    ("wifi", "password", rf"\bwifi\b{_GAP}\bpassword[ \t]+{_WORD}"),
    ("iwconfig", "password", _after("iwconfig", "key")),
    ("authtoken", "token", rf"\bauthtoken[ \t]+{_WORD}"),
    # Programs that have an option for it which means other things elsewhere.
    ("twine", "password", _option("twine", "-p")),
    ("supabase", "password", _option("supabase", "-p")),
    ("ncftp", "password", _option(r"ncftp\w*", "-p")),
    ("rdesktop", "password", _option("rdesktop", "-p")),
    ("cqlsh", "password", _option("cqlsh", "-p")),
    ("cypher-shell", "password", _option("cypher-shell", "-p")),
    *((each, "password", _option(each, "-p")) for each in ("usermod", "useradd")),
    ("unlock-keychain", "password", _option("unlock-keychain", "-p")),
    ("mosquitto_", "password", _option(r"mosquitto_\w+", "-P")),
    ("ipmitool", "password", _option("ipmitool", "-P")),
    ("ldap", "password", _option(r"ldap\w+", "-w")),
    ("snmp", "password", _option(r"snmp\w+", "-c|-A|-X")),
    ("zip ", "password", _option("zip|unzip", "-P")),
    ("nuget", "api key", _option("nuget", "-ApiKey|-k")),
    ("vercel", "token", _option("vercel", "-t")),
    ("gem ", "api key", _option("gem", "--key|-k")),
    ("hex.", "api key", rf"\bhex\.\w+{_GAP}--key[ \t]+{_WORD}"),
    ("gh secret", "secret", _option("gh secret", "-b")),
    ("lftp", "password", rf"\blftp\b{_GAP}\s-u[ \t]+[\"']?[^\s,\"']+,([^\s\"']+)"),
    ("xfreerdp", "password", rf"\bxfreerdp\d?\b{_GAP}\s/p:{_WORD}"),
    ("securestring", "secret", rf"\bSecureString\b{_GAP}--value[ =]{_WORD}"),
    ("securestring", "secret", rf"--value[ =]{_WORD}{_GAP}\bSecureString\b"),
    ("secret-string", "secret", rf"--secret-string[ =]{_WORD}"),
    # A name and a password in one word.
    ("curl", "password", rf"\bcurl\b{_GAP}\s-[a-zA-Z]*[uU][ \t]*[\"']?[^\s:\"'-][^\s:\"']{{0,80}}:(?!//)([^\s\"']+)"),
    ("curl", "cookie", rf"\bcurl\b{_GAP}\s-[a-zA-Z]*b[ \t]*[\"']?[\w.-]+=([^\s\"']+)"),
    ("--cookie", "cookie", r"--cookie[ =][\"']?[\w.-]+=([^\s\"']+)"),
    ("curl", "password", rf"\bcurl\b{_GAP}\s(?:-E|--cert|--proxy-cert)[ =]?[\"']?[^\s:\"']+:([^\s\"']+)"),
    ("user", "password", r"(?m)^[^\n]*\buser[ \t]*=[ \t]*\"[^\":\n]+:([^\"\n]+)\""),
    *(
        (each, "password", rf"\b{each}\b{_GAP}\s(?:-a|--auth)[ =]?[\"']?[^\s:\"']+:([^\s\"']+)")
        for each in (
            "http",
            "https",
            "httpie",
            "xh",
            "xhs",
        )
    ),
    ("--user", "password", r"--user[ =][\"']?[^\s:\"'/]+:(?!//)([^\s\"']+)"),
    *(
        (each, "password", rf"\b{each}\b{_GAP}\s[\"']?[\w$#]+/([^\s@\"'/]+)")
        for each in (
            "sqlplus",
            "impdp",
            "expdp",
            "sqlldr",
        )
    ),
    ("jdbc:oracle", "password", r"jdbc:oracle:\w+:[\w$#]+/([^\s@\"'/]+)@"),
    ("://", "token", r"\bhttps?://(?=[^\s/:@]*\d)([A-Za-z0-9_.~%+-]{8,})@[\w.-]+"),
    # Stores of secrets: whatever is put there is one.
    ("secret", "secret", rf"\bsecrets?[ \t:]+(?:set|put|create|add)\b{_GAP}\s[\"']?[A-Za-z_][\w.-]*=([^\s\"']+)"),
    ("secrets set", "secret", rf"\bsecrets[ \t]+set[ \t]+[A-Za-z_]\w*[ \t]+{_WORD}"),
    ("user-secrets", "secret", rf"\buser-secrets[ \t]+set[ \t]+\S+[ \t]+{_WORD}"),
    ("setenv", "secret", rf"\bsetenv[ \t]+\w*(?i:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|PASS|PWD)\w*[ \t]+{_WORD}"),
    *(
        (each, "piped secret", rf"{each}[^\n]{{0,200}}?<<<[ \t]*{_WORD}")
        for each in (
            "secret put",
            "secret-tool",
            "vncpasswd",
            "passwd",
            "--token",
        )
    ),
    (
        "|",
        "piped secret",
        rf"\b(?:echo|printf)[ \t]+(?:-\w+[ \t]+)*{_WORD}[ \t]*\|[ \t]*(?:sudo[ \t]+)?(?:passwd|vncpasswd"
        r"|secret-tool|\S+[ \t]+secrets?[ \t]+(?:put|set|create|add))(?![\w-])",
    ),
    ("-file", "password", rf"pass(?:word|wd|phrase)?-file[= ]?<\([ \t]*(?:echo|printf)[ \t]+(?:-\w+[ \t]+)*{_WORD}"),
    # Assignments whose name alone does not say it.
    ("pwd=", "password", r"(?i);[ \t]*pwd=([^;\s\"']+)"),
    ("sharedaccesssignature", "signature", r"(?i)\bSharedAccessSignature=([^;\s\"']+)"),
    ("_auth", "authorization", r"(?m)(?:^|[\s:])_auth[ \t]*=[ \t]*([^\s\"']+)"),
    ("sonar.login", "token", r"sonar\.login=([^\s\"']+)"),
    ("psk", "password", r"(?i)\b(?:wpa_|wifi_)?psk[ \t]*=[ \t]*[\"']?([^\s\"']+)"),
    ("netlify", "token", _option("netlify", "--auth")),
    # Languages and files.
    ("password", "password", rf"(?i)\bpassword(?:[ \t]*=[ \t]*password)?(?:[ \t]+|[ \t]*\([ \t]*){_QUOTED}"),
    ("identified", "password", rf"(?i)\bidentified[ \t]+(?:with[ \t]+\S+[ \t]+)?by[ \t]+{_QUOTED}"),
    ("login", "password", rf"\blogin\s+\S+\s+password\s+{_WORD}"),
    ("auth", "password", rf"\bauth[ \t]*=[ \t]*\([ \t]*[\"'][^\"'\n]*[\"'][ \t]*,[ \t]*{_QUOTED}"),
    (
        "</",
        "secret",
        r"(?i)<(?:\w*(?:password|passwd|secret|token|apikey|api_key|privatekey|passphrase))(?:\s[^<>]*)?>"
        r"([^<>\s][^<>]*)</",
    ),
    (
        "value=",
        "secret",
        r"(?i)(?:key|name)=[\"']\w*(?:password|passwd|secret|token|apikey|api_key)[\"']\s+value=" + _QUOTED,
    ),
    (":", "password", r"(?m)^[\w.*-]{1,200}:(?:\d{1,5}|\*):[\w*.-]{1,80}:[\w*.-]{1,80}:([^\s:]+)$"),
    (
        "= ",
        "secret",
        r"(?i)\b(?:\w*(?:password|passwd|secret|token|api_?key))\??[ \t]*:[ \t]*[A-Za-z_][\w.\[\]<>| ]{0,40}"
        r"=[ \t]*" + _QUOTED,
    ),
)
_compiled: dict[str, re.Pattern[str]] = {}
_MENTIONED = ("://", "|", ":", "= ", "</", "user")  # too common to say anything by themselves
TRIGGERS = tuple(dict.fromkeys(trigger for trigger, _, _ in _ROWS if trigger not in _MENTIONED))
_URL = Pattern(r"https?://[^\s/:@]{8,}@")
_LINE = Pattern(r"(?m)^[^\s:]+:[\d*]+:[^\s:]+:[^\s:]+:\S+$")


def hinted(lower: str) -> bool:
    """Whether a look with `find` is worth it; the text is given in lower case."""
    for trigger in TRIGGERS:  # a plain loop takes half the time of any()
        if trigger in lower:
            return True
    return ("@" in lower and _URL.search(lower) is not None) or (
        lower.count(":") > 3 and _LINE.search(lower) is not None
    )


def find(text: str, lower: str) -> Iterator[Span]:
    """Where a text holds a secret at a place of its own."""
    for trigger, kind, source in _ROWS:
        if trigger in lower:
            pattern = _compiled.get(source)
            if pattern is None:
                pattern = _compiled[source] = re.compile(source)
            for found in pattern.finditer(text):
                group = found.lastindex or 0
                yield found.start(group), found.end(group), kind
