"""The pack `containers`: building images and running services from the project's own files.

Proved: the command has plain options only; its files (Dockerfiles, compose files) are unchanged since the session's
start; every service has only keys of the list below, so it gets no privileges, devices, networks or processes of this
machine; mounts are in the workspace or are named volumes; and nothing is removed but containers."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from assent.contract import Effect, Invocation, Pattern
from assent.contract.plain_yaml import NotPlainYaml, YamlNode, read
from assent.facts.packs.pack_call import PackCall

FILES = (
    *("compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"),
    *("compose.override.yaml", "compose.override.yml", "docker-compose.override.yaml", "docker-compose.override.yml"),
)
# Options of `docker build` and of commands of `docker compose`; those of the second set take a value.
BUILD = (
    frozenset("--no-cache --pull -q --quiet --rm --load".split()),
    frozenset("-t --tag --target --progress --platform --build-arg -f --file".split()),
)
VERBS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "up": (
        frozenset(
            "-d --detach --build --no-build --wait --no-deps --force-recreate --quiet-pull --remove-orphans".split()
        ),
        frozenset(),
    ),
    "build": (frozenset("--no-cache --pull -q --quiet".split()), frozenset({"--progress"})),
    "down": (frozenset({"--remove-orphans"}), frozenset({"-t", "--timeout"})),
    "stop": (frozenset(), frozenset({"-t", "--timeout"})),
    "start": (frozenset(), frozenset()),
    "restart": (frozenset(), frozenset({"-t", "--timeout"})),
}
TOP = frozenset({"services", "volumes", "networks", "version", "name"})
SERVICE = frozenset(
    "image build command entrypoint environment ports expose volumes depends_on restart healthcheck networks "
    "container_name working_dir labels profiles platform hostname init stdin_open tty stop_grace_period shm_size "
    "stop_signal user pull_policy read_only".split()
)
BUILD_KEYS = frozenset("context dockerfile target args".split())
_NAME = Pattern(r"[A-Za-z0-9][A-Za-z0-9_.-]*$")
_ARGUMENT = Pattern(r"[A-Za-z_][A-Za-z0-9_]*=[^$`]*$")
_STEERED = Pattern(
    r"(?im)^\s*(?:export\s+)?(?:DOCKER_|COMPOSE_(?!PROJECT_NAME|PROFILES)|BUILDKIT_|PATH|HOME|HTTPS?_PROXY)"
)


def proved(call: PackCall) -> Iterator[Effect]:
    fine: set[int] = set()
    for index, command in call.commands(("docker", "docker-compose")):
        if "/" in command.words[0] or call.runs_before(index, fine) or not _is_own(command, call):
            continue
        fine.add(index)
        yield from call.runs(index, ())
        for inner in range(index + 1, len(call.lowering.invocations)):  # the commands of services in their containers
            if index in call.lowering.runners(inner):
                yield from call.runs(inner, ())


def _is_own(command: Invocation, call: PackCall) -> bool:
    folder, words = call.links.canonical(command.cwds[0]), command.words
    if words[:2] == ("docker", "build"):
        return _builds(folder, words[2:], call)
    if words[:2] == ("docker", "compose"):
        return _composes(folder, words[2:], call)
    return words[0] == "docker-compose" and _composes(folder, words[1:], call)


def _taken(
    words: tuple[str, ...], plain: frozenset[str], valued: frozenset[str]
) -> tuple[list[tuple[str, str]], list[str]] | None:
    """The options with their values, and the operands; None if there is another option."""
    options: list[tuple[str, str]] = []
    operands: list[str] = []
    waiting = iter(words)
    for word in waiting:
        name, equals, value = word.partition("=")
        if word in valued:
            options.append((word, next(waiting, "")))
        elif equals and name in valued:
            options.append((name, value))
        elif word in plain:
            options.append((word, ""))
        elif word.startswith("-"):
            return None
        else:
            operands.append(word)
    return options, operands


def _in_workspace(folder: str, path: str, call: PackCall) -> str:
    """The resolved path of a file in the workspace; `""` if it is outside or unknown."""
    if not path or path[0] == "~" or "$" in path or "://" in path:
        return ""
    real = call.links.canonical(posixpath.normpath(posixpath.join(folder, path)))
    return real if real and (real in call.roots or call.is_inside(real)) else ""


# ---------------------------------------------------------------- docker build


def _builds(folder: str, words: tuple[str, ...], call: PackCall) -> bool:
    taken = _taken(words, *BUILD)
    if taken is None or len(taken[1]) != 1:
        return False
    context = _in_workspace(folder, taken[1][0], call)
    files = [value for name, value in taken[0] if name in ("-f", "--file")]
    plain = all(_ARGUMENT.match(value) for name, value in taken[0] if name == "--build-arg")
    if not context or not plain or len(files) > 1:
        return False
    return _is_image(
        posixpath.join(folder, files[0]) if files else posixpath.join(context, "Dockerfile"), context, call
    )


def _is_image(path: str, context: str, call: PackCall) -> bool:
    real = call.links.canonical(path)
    besides = [each for each in (f"{context}/.dockerignore", f"{real}.dockerignore") if call.has(each)]
    return bool(real) and call.is_inside(real) and call.are_as_before((real, *besides))


# ---------------------------------------------------------------- docker compose


def _composes(folder: str, words: tuple[str, ...], call: PackCall) -> bool:
    files: list[str] = []
    while words[:1] in (("-f",), ("--file",), ("--profile",)):
        if words[0] != "--profile":
            files.append(words[1] if len(words) > 1 else "")
        words = words[2:]
    if not words or words[0] not in VERBS:
        return False
    taken = _taken(words[1:], *VERBS[words[0]])
    if taken is None or not all(_NAME.match(each) for each in taken[1]):
        return False
    places = [_in_workspace(folder, each, call) for each in files]
    if not files:
        places = [path for each in FILES if call.has(path := posixpath.join(folder, each))]
    if not places or not all(places) or _STEERED.search(call.text(posixpath.join(folder, ".env")) or ""):
        return False
    around = posixpath.dirname(places[0])
    if files and call.has(posixpath.join(around, ".env")) and around != folder:
        return False
    if not call.are_as_before(tuple(places)):
        return False
    return all(_is_plain_file(call.text(path), around, call) for path in places)


def _is_plain_file(text: str | None, folder: str, call: PackCall) -> bool:
    try:
        found = read(text or "")
    except NotPlainYaml:
        return False
    if not isinstance(found, dict) or not found.keys() <= TOP:
        return False
    for section in ("volumes", "networks"):
        named = found.get(section, {})
        if named and not (isinstance(named, dict) and all(_is_plain_named(each) for each in named.values())):
            return False
    services = found.get("services", {})
    return isinstance(services, dict) and all(_is_plain_service(each, folder, call) for each in services.values())


def _is_plain_named(value: YamlNode) -> bool:
    """Whether a volume or a network is docker's own, without options."""
    if not value:
        return True
    return isinstance(value, dict) and all(
        (key == "driver" and each in ("local", "bridge")) or (key == "name" and isinstance(each, str))
        for key, each in value.items()
    )


def _is_plain_service(service: YamlNode, folder: str, call: PackCall) -> bool:
    if not isinstance(service, dict) or not service.keys() <= SERVICE:
        return False
    image, build, volumes = service.get("image", ""), service.get("build", ""), service.get("volumes", [])
    if not isinstance(image, str) or "$" in image or not isinstance(volumes, list):
        return False
    if build and not _is_plain_build(build, folder, call):
        return False
    return all(isinstance(each, str) and _is_plain_volume(each, folder, call) for each in volumes)


def _is_plain_build(build: YamlNode, folder: str, call: PackCall) -> bool:
    asked = {"context": build} if isinstance(build, str) else build
    if not isinstance(asked, dict) or not asked.keys() <= BUILD_KEYS:
        return False
    context, file = asked.get("context", "."), asked.get("dockerfile", "Dockerfile")
    if not isinstance(context, str) or not isinstance(file, str) or "$" in file:
        return False
    place = _in_workspace(folder, context, call)
    return bool(place) and _is_image(posixpath.join(place, file), place, call)


def _is_plain_volume(text: str, folder: str, call: PackCall) -> bool:
    source, _, rest = text.partition(":")
    if "$" in text or not source:
        return False
    if not rest:
        return source.startswith("/")  # a volume without a name, at that path of the container
    if _NAME.match(source):
        return True
    return source[0] in "./" and bool(_in_workspace(folder, source, call))
