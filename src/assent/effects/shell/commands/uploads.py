"""Marks uploads: store clients that send files of this machine. Copies to this machine do not count.

For commands that are not proved. It can add a prompt, never remove one."""

from __future__ import annotations

from assent.contract import Pattern
from assent.contract.secret_files import is_environment_file
from assent.effects.shell.commands.command_effects import EffectsBuilder, Word, shown

_COPIES = frozenset("cp copy sync mv move put rsync mirror copyto moveto bisync upload".split())
_REMOTE = Pattern(r"(?:s3|gs|b2|az|wasbs?|abfss?|adl|r2|oss|cos|swift|sftp|ftp|https?)://.*")
_NAMED = Pattern(r":?[\w.-]+(?:,[^:]*)?:.*")  # as rclone names a place
_UPLOADS = Pattern(r"upload(?:-\w+)?|put-object|rcat|upload_\w+")
_SENDS = {
    "wormhole": Pattern(r".*\b(?:send|tx)\b.*"),
    "magic-wormhole": Pattern(r".*\b(?:send|tx)\b.*"),
    "croc": Pattern(r".*\bsend\b.*"),
    "ffsend": Pattern(r"(?:upload|u|up)\b.*"),
    "transfer": Pattern(r".+"),
    "pastebinit": Pattern(r".*"),
    "glab": Pattern(r"snippet create.*"),
    "gh": Pattern(r"gist (?:create|new|edit).*|repo create .*--(?:push|source).*"),
    "lftp": Pattern(r".*(?:\bput\b|\bmput\b|mirror (?:\S+ )*(?:-R|--reverse)).*"),
    "ipfs": Pattern(r"add\b.*"),
    "gsutil": Pattern(r"(?:-\S+ )*(?:iam|acl|defacl) ch .*\b(?:allUsers|allAuthenticatedUsers|AllUsers)\b.*"),
}


def add(builder: EffectsBuilder, words: list[Word]) -> None:
    """Mark a command that is not proved."""
    program = builder.program
    texts = [shown(word) for word in words]
    sends = _SENDS.get(program)
    if (sends is not None and sends.fullmatch(" ".join(texts))) or _copies_out(program, texts):
        builder.danger("exfiltration", *(("exfiltration-secret",) if any(map(is_environment_file, texts)) else ()))


def _copies_out(program: str, texts: list[str]) -> bool:
    verbs = [at for at, text in enumerate(texts[:6]) if text in _COPIES or _UPLOADS.fullmatch(text)]
    if (program in _SENDS and program != "gsutil") or not verbs or "--dryrun" in texts or "--dry-run" in texts:
        return False
    if _UPLOADS.fullmatch(texts[verbs[0]]) and texts[verbs[0]] != "upload":
        return True
    named = [text for text in texts[verbs[0] + 1 :] if text[:1] != "-"]
    far = [_is_far(program, text) for text in named]
    return len(named) > 1 and any(far[1:]) and not far[0]


def _is_far(program: str, text: str) -> bool:
    if program == "mc":
        return text[:1] not in (".", "/", "~") and "/" in text
    return _REMOTE.fullmatch(text) is not None or (program == "rclone" and _NAMED.fullmatch(text) is not None)
