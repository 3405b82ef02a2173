"""The docs and the code name the same things, and the examples in the docs are real.

Tables of what the code knows are written by scripts/docs.py: after a change, run `make docs`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assent.cli.check import KNOWN
from assent.cli.commands import build_parser, resolve
from assent.cli.main import main
from assent.cli.policy_cases import CASE_KEYS, read_cases
from assent.cli.policy_trial import PolicyTrial, run_case
from assent.policy.codes import CODES
from assent.policy.dangers import DANGERS
from assent.policy.document import RULE_KEYS, keys, read_document
from assent.policy.manifest import read_manifest
from assent.policy.rules import Origin, RuleKind
from assent.policy.settings import combine
from assent.policy.shipped import default_ids, entries
from assent.programs import option, row
from scripts import docs

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/assent"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"[a-z]+(?:\.[a-z]+(?:-[a-z]+)*)+")
CODE_FAMILIES = frozenset(code.split(".")[0] for code in CODES)


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def cells(part: str, column: int = 0) -> list[str]:
    """The names in back-quotes in one column of a text's tables."""
    rows = [line.replace(r"\|", "/").split("|")[1:-1] for line in part.splitlines() if line.startswith("| `")]
    return [name for each in rows for name in re.findall(r"`([^`]+)`", each[column])]


def section(name: str, title: str) -> str:
    found = re.search(rf"^##+ {re.escape(title)}\n(.*?)(?=^## |\Z)", text(name), re.DOTALL | re.MULTILINE)
    assert found is not None, f"{name} has no section {title}"
    return found[1]


def fenced(name: str, language: str) -> list[str]:
    return [body for kind, body in FENCE.findall(text(name)) if kind == language]


DOCUMENTS = [path.relative_to(ROOT).as_posix() for path in docs.documents()]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_tables_are_as_the_code_has_them(name: str) -> None:
    assert text(name) == docs.written(text(name)), "run `make docs`"


def test_every_table_that_the_code_knows_stands_somewhere() -> None:
    found = {match[2] for name in DOCUMENTS for match in docs.BLOCK.finditer(text(name))}
    assert found == set(docs.BLOCKS)


def test_codes_settings_dangers_and_shipped_rules_are_all_listed() -> None:
    assert cells(text("docs/reasons.md").partition("## What to do")[0]) == list(CODES)
    assert cells(section("docs/configuration.md", "Settings")) == list(keys())
    assert cells(section("docs/rules.md", "Dangers")) == list(DANGERS)
    assert cells(section("docs/rules.md", "Shipped rules")) == default_ids()
    assert cells(section("docs/rules.md", "The floor")) == [entry.id for entry in entries("floor")["rule"]]
    assert cells(section("docs/rules.md", "Rules with a reason, a message and examples")) == list(RULE_KEYS)
    assert set(cells(section("docs/cli.md", "Many calls at once"))) == KNOWN
    assert cells(section("docs/policy-testing.md", "What decides a case")) == list(CASE_KEYS)


def test_every_command_and_option_is_listed() -> None:
    for name, parser in docs.parsers(build_parser()):
        listed = cells(section("docs/cli.md", f"`{name}`"))
        options = [option for action in parser._actions for option in action.option_strings]
        assert [each.split()[0] for each in listed if each.startswith("-")] == options


def test_every_module_and_folder_at_the_top_of_the_code_has_its_row() -> None:
    source = ROOT / "src/assent"
    there = {f"{each.name}/" for each in source.iterdir() if (each / "__init__.py").exists()}
    there |= {each.name for each in source.glob("*.py") if not each.name.startswith("__")}
    before = text("docs/architecture.md").partition("## Words")[0]
    assert there - set(cells(before)) == set()


def test_the_first_page_leads_to_every_other() -> None:
    there = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md")}
    assert there - set(re.findall(r"\]\((docs/[a-z-]+\.md)\) \|$", text("README.md"), re.MULTILINE)) == set()


def test_every_key_role_tag_and_reader_of_the_command_tables_is_listed() -> None:
    page = text("docs/commands.md")
    assert set(cells(section("docs/commands.md", "A row"))) >= row.KEYS
    roles = {role.split(":")[0] for role in cells(section("docs/commands.md", "Roles"))}
    assert roles == option.ROLES | {"CODE"}
    tags = {tag[1:].split(":")[0] for tag in cells(section("docs/commands.md", "Options")) if tag.startswith("!")}
    assert tags == option.TAGS | {"danger", "gives", "lifts"}
    assert [style for style in row.STYLES | row.PRINTS if style and f"`{style}`" not in page] == []


# ---------------------------------------------------------------- nothing is named that does not exist


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_document_names_a_code_that_does_not_exist(name: str) -> None:
    named = {each for each in re.findall(r"[`\[]([a-z.-]+)[`\]]", text(name)) if CODE.fullmatch(each)}
    codes = {each for each in named if each.split(".")[0] in CODE_FAMILIES}
    files = {each for each in codes if each.endswith((".py", ".toml", ".md"))}
    assert codes - files - set(CODES) - set(keys()) == set()


def test_no_module_makes_a_code_that_is_not_listed() -> None:
    listed = {known for code in CODES for known in (code, *_stems(code))} | set(keys())
    found = {str(path.relative_to(ROOT)): codes_made(path) - listed for path in (ROOT / "src").rglob("*.py")}
    assert {path: codes for path, codes in found.items() if codes} == {}


def codes_made(path: Path) -> set[str]:
    source = path.read_text(encoding="utf-8")
    literals = set(re.findall(r"[\"']([a-z]+(?:\.[a-z]+(?:-[a-z]+)*)+)[\"']", source))
    made = {each for each in literals if each.split(".")[0] in CODE_FAMILIES}
    made |= {f"gap.shell.{each}" for each in re.findall(r"\bseen\.gap\(\s*\"([a-z-]+)\"", source)}
    return made | {f"gap.shell.{each}" for each in re.findall(r"\bself\.gap\(\s*\"([a-z-]+)\"", source)}


def _stems(code: str) -> Iterator[str]:
    """What a code begins with, for modules that put codes together or compare their beginnings."""
    parts = code.split(".")
    return (".".join(parts[:length]) for length in range(2, len(parts)))


def test_every_danger_that_the_code_speaks_of_exists() -> None:
    """In shipped rules, in the command tables, and in the reading of commands."""
    spoken = {
        rule.spec
        for name in ("deny", "ask")
        for entry in entries("defaults")[name]
        for rule in entry.rules
        if rule.about is RuleKind.DANGER
    }
    for path in (ROOT / "src/assent/effects").rglob("*.toml"):
        table = path.read_text(encoding="utf-8")
        spoken |= set(re.findall(r"!(?:danger|lifts):([a-z-]+)", table))
        for listed in re.findall(r"^dangers = \[([^\]]*)\]", table, re.MULTILINE):
            spoken |= set(re.findall(r"\"([a-z-]+)\"", listed))
    assert spoken - set(DANGERS) == set()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_link_leads_somewhere(name: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", text(name)):
        if target.startswith("http"):
            continue
        file, _, anchor = target.partition("#")
        path = (ROOT / name).parent / file if file else ROOT / name
        assert path.exists(), target
        if anchor:
            titles = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}, target


# ---------------------------------------------------------------- examples are real


PATHS = re.compile(r"(?:src|tests|docs|scripts|bench|examples)/[\w./*-]*\w|\.ci/run|CHANGELOG\.md")


def test_every_path_that_the_guide_for_contributors_names_exists() -> None:
    named = set(PATHS.findall(text("CONTRIBUTING.md")))
    assert len(named) > 40
    assert {path for path in named if not any(ROOT.glob(path))} == set()


def test_every_file_to_find_a_change_in_exists() -> None:
    """Names are below src/assent or the root; a bare name is beside the one before it."""
    missing = []
    for line in section("docs/architecture.md", "Find a change").splitlines():
        before = ROOT
        for named in re.findall(r"`([\w/*]+(?:\.(?:py|toml|c|html)|/))`", line.replace("NAME", "*")):
            found = [path for base in (SOURCE, ROOT, before) for path in base.glob(named.rstrip("/"))]
            missing += [] if found else [named]
            before = next((path if path.is_dir() else path.parent for path in found), before)
    assert missing == []


def commands_shown() -> Iterator[tuple[str, str]]:
    for name in DOCUMENTS:
        for language in ("sh", "console"):
            for line in "\n".join(fenced(name, language)).splitlines():
                shown = line.removeprefix("$ ")
                if re.match(r"\S*\bassent (?!\|)", shown):
                    yield name, shown


@pytest.mark.parametrize(("name", "line"), list(commands_shown()))
def test_every_command_shown_can_be_given(name: str, line: str) -> None:
    words = shlex.split(line, comments=True)
    ours = next((words[:at] for at, word in enumerate(words) if word in ("<", "|")), words)
    build_parser().parse_args(resolve(ours[1:])[0])


def policies_shown() -> Iterator[tuple[str, str]]:
    for name in ("README.md", "docs/configuration.md", "docs/rules.md", "docs/policy-testing.md"):
        for body in fenced(name, "toml"):
            yield name, body


@pytest.mark.parametrize(("name", "body"), list(policies_shown()))
def test_every_policy_shown_loads(name: str, body: str) -> None:
    if body.startswith("# assent-pack.toml"):
        assert combine([read_manifest(body, name).document]).files == (name,)
        return
    origin = Origin.PROJECT if body.startswith("# .assent.toml") else Origin.USER
    assert combine([read_document(body, name, origin)]).files == (name,)


def test_the_cases_shown_hold() -> None:
    (body,) = fenced("docs/policy-testing.md", "toml")
    trial = PolicyTrial([read_document(body, ".assent.toml", Origin.PROJECT)])
    found = read_cases(body, ".assent.toml").cases
    assert len(found) == 5
    assert [(case.name, run_case(trial, case).misses) for case in found if run_case(trial, case).misses] == []


def test_the_readme_shows_what_the_command_line_prints(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSENT_HOME", str(tmp_path / "state"))
    shown = fenced("README.md", "console")[0].splitlines()
    words = shlex.split(shown[0].removeprefix("$ "))
    main([*words[1:], "--cwd", str(tmp_path)])
    assert capsys.readouterr().out.splitlines()[: len(shown) - 1] == shown[1:]


def test_the_library_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSENT_HOME", str(tmp_path))
    monkeypatch.setattr("assent.api.embedded.has_terminal", lambda: False)  # asks nobody
    found: dict[str, Any] = {}
    exec(fenced("README.md", "python")[0], found)
    found["gate"].close()
    assert "was not run" in found["verdict"].message
