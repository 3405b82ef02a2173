"""Secrets recognized by their shape (tokens of known services, key blocks, JSON web tokens) or by their position in the
syntax of a program or a language (`cargo login …`, `IDENTIFIED BY '…'`).

A row is tried only if its trigger is in the text, and compiled the first time that happens."""

from __future__ import annotations

from collections.abc import Iterator

from assent.contract import Pattern, re

Span = tuple[int, int, str]  # start, end, kind

_LEFT = r"(?<![A-Za-z0-9])"

# trigger (as written in the text), kind, pattern
_ROWS: tuple[tuple[str, str, str], ...] = (
    ("AKIA", "aws access key", _LEFT + r"AKIA[A-Z0-9]{12,}"),
    ("ASIA", "aws access key", _LEFT + r"ASIA[A-Z0-9]{16,}"),
    ("ABIA", "aws access key", _LEFT + r"ABIA[A-Z0-9]{16,}"),
    ("ACCA", "aws access key", _LEFT + r"ACCA[A-Z0-9]{16,}"),
    ("AIza", "google api key", r"AIza[0-9A-Za-z_-]{30,}"),
    ("ya29.", "google token", r"ya29\.[0-9A-Za-z_.-]{16,}"),
    ("GOCSPX-", "google client secret", r"GOCSPX-[0-9A-Za-z_-]{16,}"),
    ("1//0", "google refresh token", r"1//0[0-9A-Za-z_-]{30,}"),
    ("Q~", "azure client secret", r"[A-Za-z0-9_~.-]{3,8}Q~[A-Za-z0-9_~.-]{30,}"),
    *((f"gh{each}_", "github token", _LEFT + rf"gh{each}_[A-Za-z0-9_]{{16,}}") for each in "pousr"),
    ("github_pat_", "github token", r"github_pat_[A-Za-z0-9_]{16,}"),
    *(
        (f"gl{each}-", "gitlab token", _LEFT + rf"gl{each}-[A-Za-z0-9_.-]{{16,}}")
        for each in ("pat", "dt", "rt", "rtr", "cbt", "ptt", "ft", "imt", "agent", "oas", "soat", "ffct")
    ),
    ("xox", "slack token", _LEFT + r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{8,}"),
    ("xapp-", "slack token", _LEFT + r"xapp-[A-Za-z0-9-]{8,}"),
    ("hooks.slack.com", "slack webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]+"),
    ("/api/webhooks/", "discord webhook", r"/api/webhooks/\d+/[A-Za-z0-9_-]+"),
    ("webhook.office.com", "teams webhook", r"webhook\.office\.com/webhookb2/[^\s'\"]+"),
    ("npm_", "npm token", _LEFT + r"npm_[A-Za-z0-9]{30,}"),
    ("pypi-Ag", "pypi token", r"pypi-Ag[A-Za-z0-9_-]{16,}"),
    ("rubygems_", "rubygems token", r"rubygems_[0-9a-f]{32,}"),
    ("sk-ant-", "anthropic key", r"sk-ant-[A-Za-z0-9_-]{8,}"),
    ("sk-", "api key", _LEFT + r"sk-(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{18,}"),
    ("sk_", "stripe key", _LEFT + r"sk_(?:live|test|prod)_[A-Za-z0-9]{8,}"),
    ("rk_", "stripe key", _LEFT + r"rk_(?:live|test|prod)_[A-Za-z0-9]{8,}"),
    ("whsec_", "stripe webhook secret", r"whsec_[A-Za-z0-9+/=]{16,}"),
    ("hf_", "hugging face token", _LEFT + r"hf_[A-Za-z0-9]{28,}"),
    ("gsk_", "groq key", _LEFT + r"gsk_[A-Za-z0-9]{28,}"),
    ("xai-", "xai key", _LEFT + r"xai-[A-Za-z0-9]{28,}"),
    ("pplx-", "perplexity key", _LEFT + r"pplx-[A-Za-z0-9]{28,}"),
    ("r8_", "replicate token", _LEFT + r"r8_[A-Za-z0-9]{28,}"),
    ("SG.", "sendgrid key", _LEFT + r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("SK", "twilio key", _LEFT + r"SK[0-9a-f]{32}(?![0-9a-f])"),
    ("key-", "mailgun key", _LEFT + r"key-[0-9a-f]{32}(?![0-9a-f])"),
    ("_v1_", "digitalocean token", _LEFT + r"do[opr]_v1_[0-9a-f]{32,}"),
    *((f"hv{each}.", "vault token", _LEFT + rf"hv{each}\.[A-Za-z0-9_-]{{16,}}") for each in "sbr"),
    ("dapi", "databricks token", _LEFT + r"dapi[0-9a-f]{32}"),
    *((f"shp{each}_", "shopify token", rf"shp{each}_[0-9a-fA-F]{{32}}") for each in ("at", "ca", "pa", "ss")),
    ("dckr_pat_", "docker token", r"dckr_pat_[A-Za-z0-9_-]{16,}"),
    ("sbp_", "supabase token", _LEFT + r"sbp_[0-9a-f]{32,}"),
    ("figd_", "figma token", _LEFT + r"figd_[A-Za-z0-9_-]{20,}"),
    ("NRAK-", "new relic key", r"NRAK-[A-Z0-9]{20,}"),
    ("sntry", "sentry token", _LEFT + r"sntry[su]_[A-Za-z0-9+/=_-]{20,}"),
    ("glsa_", "grafana token", _LEFT + r"glsa_[A-Za-z0-9_]{20,}"),
    ("glc_", "grafana token", _LEFT + r"glc_[A-Za-z0-9+/=_-]{20,}"),
    ("dp.", "doppler token", _LEFT + r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{20,}"),
    ("pul-", "pulumi token", _LEFT + r"pul-[0-9a-f]{32,}"),
    (".atlasv1.", "terraform token", r"[A-Za-z0-9]{8,20}\.atlasv1\.[A-Za-z0-9_-]{20,}"),
    ("ATATT3", "atlassian token", r"ATATT3[A-Za-z0-9_=-]{20,}"),
    ("lin_api_", "linear key", r"lin_api_[A-Za-z0-9]{20,}"),
    ("ntn_", "notion token", _LEFT + r"ntn_[A-Za-z0-9]{30,}"),
    ("PMAK-", "postman key", r"PMAK-[0-9a-f-]{30,}"),
    ("EAA", "facebook token", _LEFT + r"EAA[A-Za-z0-9]{40,}"),
    (":AA", "telegram token", r"(?<!\d)\d{8,10}:AA[A-Za-z0-9_-]{30,}"),
    ("AGE-SECRET-KEY-", "age key", r"AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{20,}"),
    ("eyJ", "json web token", r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*){0,3}"),
    (
        "PRIVATE KEY",
        "private key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----"
        r"(?:(?!-----END)[\s\S])*(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----)?",
    ),
    ("Private-Lines", "private key", r"Private-Lines: *\d+\s+(?:[A-Za-z0-9+/=]+\s*)+"),
)
_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----"
_BLOCK = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\\ \r\n\t"
LONGEST_KEY = 16_384
SHORTEST = 13  # characters of a token
_LONG = Pattern(r"[A-Za-z0-9_-]{13}")
TRIGGERS = tuple(dict.fromkeys(trigger for trigger, _, _ in _ROWS))

_GAP = r"[^\n|;&]{0,400}?"  # more of the same command
_WORD = r"(?:\"([^\"\n]+)\"|'([^'\n]+)'|([^\s'\"|;&<>()-][^\s|;&<>()]*))"  # without its quotes
_QUOTED = r"(?:\"([^\"\n]+)\"|'([^'\n]+)')"


def _after(programs: str, place: str) -> str:
    """A word after `place`, which comes after a program."""
    return rf"\b(?:{programs})\b{_GAP}(?:{place})[ \t]+(?!(?:login|logout|list|status|whoami|token)\b){_WORD}"


def _option(programs: str, options: str) -> str:
    """The value of an option of some programs, as the next word or attached to it."""
    return rf"\b(?:{programs})\b{_GAP}\s(?:{options})[ =]?[ \t]*{_WORD}"


_FORMS: tuple[tuple[str, str, str], ...] = (
    # Programs that take a secret as a plain word.
    *(
        (each, "token", _after(each, "auth[ \t]+token|login|auth|authtoken|add-authtoken"))
        for each in ("cargo", "wandb", "snyk", "ngrok", "flyctl", "vault", "fly", "doppler", "railway", "sentry-cli")
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
    # Programs with an option for it that means something else in other programs.
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
        for each in ("http", "https", "httpie", "xh", "xhs")
    ),
    ("--user", "password", r"--user[ =][\"']?[^\s:\"'/]+:(?!//)([^\s\"']+)"),
    *(
        (each, "password", rf"\b{each}\b{_GAP}\s[\"']?[\w$#]+/([^\s@\"'/]+)")
        for each in ("sqlplus", "impdp", "expdp", "sqlldr")
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
        for each in ("secret put", "secret-tool", "vncpasswd", "passwd", "--token")
    ),
    (
        "|",
        "piped secret",
        rf"\b(?:echo|printf)[ \t]+(?:-\w+[ \t]+)*{_WORD}[ \t]*\|[ \t]*(?:sudo[ \t]+)?(?:passwd|vncpasswd"
        r"|secret-tool|\S+[ \t]+secrets?[ \t]+(?:put|set|create|add))(?![\w-])",
    ),
    ("-file", "password", rf"pass(?:word|wd|phrase)?-file[= ]?<\([ \t]*(?:echo|printf)[ \t]+(?:-\w+[ \t]+)*{_WORD}"),
    # Assignments whose name alone does not announce a secret.
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
_COMMON = ("://", "|", ":", "= ", "</", "user")  # triggers that are too common to hint at a secret
FORM_TRIGGERS = tuple(dict.fromkeys(trigger for trigger, _, _ in _FORMS if trigger not in _COMMON))
_TOKEN_URL = Pattern(r"https?://[^\s/:@]{8,}@")
_PASSWD = Pattern(r"(?m)^[^\s:]+:[\d*]+:[^\s:]+:[^\s:]+:\S+$")
_compiled: dict[str, re.Pattern[str]] = {}


def hinted(text: str) -> bool:
    """Whether `find` may find something. All shapes but the blocks have a long run of letters and digits."""
    if "PRIVATE KEY" in text or "Private-Lines" in text:
        return True
    if not any(len(word) >= SHORTEST for word in text.split()):
        return False
    for trigger in TRIGGERS:  # a plain loop takes half the time of any()
        if trigger in text:
            return _LONG.search(text) is not None
    return False


def find(text: str) -> Iterator[Span]:
    yield from _matches(_ROWS, text, text)
    if "PRIVATE KEY" in text:
        # Blocks without their beginning: everything that can be base64 before the end mark.
        for found in re.finditer(_END, text):
            start = max(found.start() - LONGEST_KEY, 0)
            yield start + len(text[start : found.start()].rstrip(_BLOCK)), found.end(), "private key"


def form_hinted(lower: str) -> bool:
    """Whether `find_forms` may find something; the text is given in lower case."""
    for trigger in FORM_TRIGGERS:  # as above
        if trigger in lower:
            return True
    url = "@" in lower and _TOKEN_URL.search(lower) is not None
    return url or (lower.count(":") > 3 and _PASSWD.search(lower) is not None)


def find_forms(text: str, lower: str) -> Iterator[Span]:
    """The spans of secrets in a text, found by syntax."""
    return _matches(_FORMS, lower, text)


def _matches(rows: tuple[tuple[str, str, str], ...], triggers: str, text: str) -> Iterator[Span]:
    for trigger, kind, source in rows:
        if trigger in triggers:
            for found in compiled(source).finditer(text):
                group = found.lastindex or 0
                yield found.start(group), found.end(group), kind


def compiled(source: str) -> re.Pattern[str]:
    found = _compiled.get(source)
    if found is None:
        found = _compiled[source] = re.compile(source)
    return found
