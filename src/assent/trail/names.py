"""Which names say that their value is a secret: `GITHUB_TOKEN`, `clientSecret`, `--db-password`. Sees no values."""

from __future__ import annotations

from assent.contract import Pattern

_CAMEL = Pattern(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SPLIT = Pattern(r"[^a-z0-9]+")

# A word that ends like this is what people call a secret.
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
# Words that need another before them, and none behind: `DB_PASS`, not `pass`; `DB_PWD`, not the shell's `PWD`.
_SECOND = {"pass": "password", "pwd": "password", "pw": "password", "auth": "authorization", "pat": "token"}
# `key` is a secret behind one of these, and else a name for anything.
_KEYS = frozenset(
    "api access secret private auth encryption signing master account shared service storage license client deploy app "
    "application consumer subscription admin root hmac aes ssh webhook session crypt cipher openai anthropic stripe "
    "gemini google azure openrouter mistral groq cohere sendgrid mailgun twilio datadog dd amplitude algolia mapbox "
    "sentry segment rapidapi functions host jwt wg psk".split()
)
# A name that ends in one of these speaks of the secret, and is none itself.
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
# Keys that hold secrets, and words that in a text mean anything.
_PLAIN = {"pass": "password", "pwd": "password", "pw": "password", "secrets": "secret", "auth_tokens": "token"}
_known: dict[str, str] = {}


def secret_kind(name: str, *, key: bool = False) -> str:
    """What kind of secret a name announces; `""` for none. `key` says that it is a key of structured input."""
    if len(name) > 80:
        return ""
    remembered = _known.get(name)
    if remembered is None:
        if len(_known) > 2000:
            _known.clear()
        remembered = _known[name] = _judge(name)
    return remembered or (_PLAIN.get(name.lower(), "") if key else "")


def _judge(name: str) -> str:
    plain = name.replace("_", "a")
    if plain.isascii() and plain.isalpha() and name.islower():  # most keys, without a pattern
        words = [word for word in name.split("_") if word]
    else:
        words = [word for word in _SPLIT.split(_CAMEL.sub("_", name).lower()) if word and not word.isdigit()]
    if not words or words[0] in _FIRST:
        return ""
    if words[-1] in _ABOUT:
        return ""
    if words in (["old", "pwd"], ["oldpwd"], ["ssh", "auth"], ["by", "pass"]):
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
