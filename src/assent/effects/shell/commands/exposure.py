"""Marks commands that take code from an address, or open this machine to others, by their words.

For commands that are not proved. It can add a prompt, never remove one."""

from __future__ import annotations

from assent.contract import Pattern
from assent.effects.shell.commands.command_effects import EffectsBuilder, Word, shown
from assent.programs.traits import has

# A package named by its location, for one of the managers.
_ADDRESS = Pattern(
    r"(?:[\w.\[\],-]+\s*@\s*|-{0,2}[\w.-]+=|@)?(?:git::)?(?:(?:git|hg|svn|bzr)\+)?(?:https?|ssh|git|ftp|svn)://(?:[^/@\s]*@)?"
    r"(?P<host>[^/:\s]*).*|(?:github|gitlab|bitbucket|gist|git\+ssh):[\w.-]+/.*|git@[\w.-]+:.*"
)
# The default sources of the managers, and those in their manuals.
_REGISTRIES = frozenset(
    """registry.npmjs.org registry.yarnpkg.com npm.pkg.github.com pypi.org test.pypi.org files.pythonhosted.org
    download.pytorch.org pypi.nvidia.com proxy.golang.org sum.golang.org rubygems.org crates.io index.crates.io
    static.crates.io repo.maven.apache.org repo1.maven.org packagist.org repo.packagist.org deno.land jsr.io npm.jsr.io
    conda.anaconda.org repo.anaconda.com localhost 127.0.0.1 deb.debian.org archive.ubuntu.com
    security.ubuntu.com""".split()
)
_GO_HOSTS = Pattern(
    r"github\.com|gitlab\.com|bitbucket\.org|codeberg\.org|golang\.org|google\.golang\.org|go\.uber\.org|gopkg\.in|k8s\.io"
    r"|sigs\.k8s\.io|cloud\.google\.com|honnef\.co|mvdan\.cc|filippo\.io|gotest\.tools|go\.opentelemetry\.io|entgo\.io"
    r"|gorm\.io|modernc\.org|connectrpc\.com|buf\.build|go\.mongodb\.org|gvisor\.dev|knative\.dev|helm\.sh|dagger\.io"
    r"|go\.etcd\.io|istio\.io|goa\.design|rsc\.io|zombiezen\.com|4d63\.com|cuelang\.org|software\.sslmate\.com"
)
_TRUSTS = Pattern(
    r"--(?:trusted-host|allow-untrusted|dangerous|nogpgcheck|no-gpg-checks|allow-unauthenticated)(?:=.*)?"
)
_RUNS_CODE = frozenset("deno bun node tsx php".split())
_RUNS_AT_ONCE = frozenset("run dlx exec x tool".split())
_INSTALLS = frozenset(
    """install i add get require reinstall upgrade update download localinstall tap -U -i -ivh -Uvh --install
    sources""".split()
)
_INSTALLERS = frozenset(
    """rpm dpkg pacman cpan cpanm luarocks nix nix-shell nix-env ansible-pull ansible-galaxy terraform tofu
    add-apt-repository apt-add-repository apt-key""".split()
)
# Options whose value is a package, or a source of packages.
_SOURCES = (
    *(
        "--from",
        "--with",
        "--spec",
        "--package",
        "-p",
        "--index-url",
        "--extra-index-url",
        "--default-index",
        "--index",
    ),
    *("--registry", "--source", "--find-links", "--git", "--import", "--require", "-r", "--loader", "--preload"),
    "--experimental-loader",
)
# The words with which programs give others access.
_OPENS = {
    "cloudflared": Pattern(r".*\b(?:tunnel|access)\b(?!.*\b(?:list|info|--help)\b).*"),
    "tailscale": Pattern(r"(?:funnel|serve|up|set|ssh|file)\b(?!.*\bstatus\b).*"),
    "code": Pattern(r"(?:tunnel|serve-web).*|.*--install-extension.*"),
    "gh": Pattern(r"(?:extension|extensions|ext) (?:install|upgrade).*|codespace ports visibility.*"),
    "jupyter": Pattern(r".*(?:0\.0\.0\.0|--ip[= ]'?\*|token=(?:''|\"\"|$| )|password=(?:''|\"\"|$| )).*"),
    "redis-server": Pattern(r".*--protected-mode no.*"),
    "mongod": Pattern(r".*(?:--bind_ip_all|0\.0\.0\.0)(?!.*--auth).*"),
    "dockerd": Pattern(r".*tcp://.*"),
    "kubectl": Pattern(r"(?:proxy|port-forward).*--address[= ](?!127\.|localhost).*"),
    "socat": Pattern(r"(?i).*\b(?:tcp\d?|udp\d?|openssl|sctp\d?)-l(?:isten)?:.*"),
    "rsync": Pattern(r".*--daemon.*"),
    "pm2": Pattern(r"(?:startup|deploy)\b.*"),
    "xhost": Pattern(r"\+.*"),
    "zrok": Pattern(r"(?:share|reserve).*"),
    "devtunnel": Pattern(r"(?:host|create).*"),
    "autossh": Pattern(r"(?:.* )?-\w*R.*|.*(?i:remoteforward).*"),
    "websocat": Pattern(r".*\b(?:exec|sh-c|cmd):.*|.*-E .*"),
}
# Options that break a container's isolation, as `--name=value`.
_RELEASED = Pattern(
    r"--privileged(?:=true)?|--(?:pid|ipc|userns|uts|cgroupns)=host|--(?:volume|mount)=.*docker\.sock.*"
    r"|--cap-add=(?:ALL|SYS_\w+)|--security-opt=(?:seccomp|apparmor|label)[=:](?:unconfined|disable)|--device=.*"
)
_VALUED = frozenset("--pid --ipc --userns --uts --cgroupns --volume --mount --cap-add --security-opt --device".split())


def add(builder: EffectsBuilder, words: list[Word]) -> None:
    """Mark a command that is not proved."""
    program = builder.program
    texts = [shown(word) for word in words]
    if has(program, "opens-door"):
        opens = texts not in (["--version"], ["version"], ["--help"], ["help"])
    else:
        opens = program in _OPENS and _OPENS[program].fullmatch(" ".join(texts)) is not None
    if opens:
        builder.danger("exposes")
    if has(program, "maybe-python") and texts[:2] == ["-m", "pip"]:
        texts = texts[2:]
    elif has(program, "maybe-python"):
        return
    if has(program, "container-client"):
        _container(builder, program, texts)
    elif program in _RUNS_CODE or has(program, "takes-code"):
        _code(builder, program, texts)


def _code(builder: EffectsBuilder, program: str, texts: list[str]) -> None:
    """Code that is installed or run from an address."""
    verb = next((text for text in texts if text[:1] not in ("-", "+") and "://" not in text), "")
    for place, text in enumerate(texts):
        found = _ADDRESS.fullmatch(text)
        if found is None or (found["host"] or "") in _REGISTRIES or not _is_code(program, texts, place):
            continue
        at_once = program in _RUNS_CODE and _INSTALLS.isdisjoint(texts[:place])
        builder.danger("remote-code" if at_once else "remote-install")
        return
    if any(map(_TRUSTS.fullmatch, texts)) or program in ("add-apt-repository", "apt-add-repository", "apt-key"):
        builder.danger("remote-install")
    if program == "go" and verb in ("install", "run"):
        modules = [text for text in texts if "@" in text and text[:1] not in ("-", ".", "/")]
        hosts = [text.partition("/")[0] for text in modules]
        if any("." in host and not _GO_HOSTS.fullmatch(host) for host in hosts):
            builder.danger("remote-install")


def _is_code(program: str, texts: list[str], place: int) -> bool:
    """Whether an address is itself installed or run, not an argument of the program."""
    before = texts[:place]
    if program == "php":
        return "auto_prepend_file" in texts[place]
    if program in _INSTALLERS or not _INSTALLS.isdisjoint(before) or texts[place].startswith(_SOURCES):
        return True
    if before and before[-1] in _SOURCES:
        return True
    runs = program in _RUNS_CODE or has(program, "wrapper") or not _RUNS_AT_ONCE.isdisjoint(before)
    return runs and all((text[:1] == "-" and text != "--") or text in _RUNS_AT_ONCE for text in before)


def _container(builder: EffectsBuilder, program: str, texts: list[str]) -> None:
    """A container without isolation, or built from an address."""
    verbs = [text for text in texts[:3] if text[:1] != "-"]
    builds = "build" in verbs or (verbs[:1] == ["compose"] and "-f" in texts)
    if builds and any(_ADDRESS.fullmatch(text) is not None for text in texts if "=" not in text):
        builder.danger("remote-install")
    if {"run", "create"}.isdisjoint(verbs):
        return
    for text, after in zip(texts, [*texts[1:], ""], strict=True):
        name = "--volume" + text[2:] if text[:2] == "-v" else text
        if name in _VALUED:
            name = f"{name}={after}"
        elif text[:2] == "-v" and len(text) > 2:
            name = f"--volume={text[2:]}"
        if _RELEASED.fullmatch(name):
            builder.danger("privilege")
            return
