"""`assent test` tells which cases hold, the same on every machine, and its exit status says it to scripts."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cases import rows
from tests.cli.test_check import Machine

POLICY = """
ask = ["bash(git push:*)"]
deny = [{ rule = "read(**/*.key)", message = "keys stay here" }]

[[test]]
call = "bash git push origin topic"
expect = "ask"
rule = "bash(git push:*)"
"""
FAILS = """
[[test]]
name = "the \\u001b[31mlist"
call = "bash ls"
expect = "deny"
reason = "deny.rule"
rule = "read(**/*.key)"
"""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_projects_cases_hold_whatever_the_user_has_set(machine: Machine) -> None:
    (machine.project / ".assent.toml").write_text(POLICY)
    machine.config('mode = "yolo"\n')
    done = machine.run("test", env={"ASSENT_MODE": "plan"})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("1 case in 1 file: all hold (")


def test_a_failure_is_shown_with_its_place_what_was_expected_and_the_receipt(machine: Machine) -> None:
    (machine.project / ".assent.toml").write_text(POLICY + FAILS)
    done = machine.run("test", ".")
    assert done.returncode == 1
    assert done.stdout.splitlines()[:-1] == [
        r"FAIL  .assent.toml:10  the \u{1b}[31mlist",
        "  expected deny, got allow",
        "  expected the reason `deny.rule`, got `intrinsic.read-only`",
        "  expected the rule `read(**/*.key)`, got no rule",
        "  | ALLOW  bash ls",
        "  |   why    it only reads, lists or searches [intrinsic.read-only]",
        "  |   mode   default, risk low, layer intrinsic",
        "",
    ]
    assert done.stdout.splitlines()[-1].startswith("2 cases in 1 file: 1 failed (")


def test_the_users_cases_are_tried_beside_the_projects(machine: Machine) -> None:
    (machine.project / ".assent.toml").write_text(POLICY)
    machine.config('mode = "plan"\n[[test]]\ncall = "bash touch a"\nexpect = "allow"\n')
    done = machine.run("test")
    assert (done.returncode, "config.toml:2  bash touch a" in done.stdout) == (1, True)
    assert machine.run("test", ".").returncode == 0


def test_a_test_file_names_its_policies_or_takes_the_project_s(machine: Machine) -> None:
    case = '[[test]]\ncall = "bash make"\nexpect = "deny"\n'
    (machine.project / "sub").mkdir()
    test = machine.project / "sub/team.assent-test.toml"
    test.write_text(case)
    (machine.project / ".assent.toml").write_text('deny = ["bash(make:*)"]\n')
    assert machine.run("test").returncode == 0
    (machine.project / "team.toml").write_text('mode = "yolo"\n')
    test.write_text(f'policy = "../team.toml"\n{case}')
    assert machine.run("test").returncode == 1
    test.write_text(f'policy = ["../team.toml", "../.assent.toml"]\n{case.replace("deny", "allow")}')
    assert machine.run("test").returncode == 0  # yolo skips the rules of projects
    test.write_text(f'policy = "../gone.toml"\n{case}')
    done = machine.run("test")
    assert (done.returncode, "gone.toml: there is no such file" in done.stderr) == (2, True)


def test_another_policy_can_be_tried(machine: Machine) -> None:
    (machine.project / ".assent.toml").write_text(POLICY)
    (machine.project / "next.toml").write_text('allow = ["bash(git push:*)"]\n')
    done = machine.run("test", "--policy", "next.toml")
    assert (done.returncode, "expected ask, got allow" in done.stdout) == (1, True)


def test_code_files_and_links_are_those_of_the_case(machine: Machine) -> None:
    (machine.project / ".assent.toml").write_text(
        '[[test]]\ncall = "bash ./b.sh"\nexpect = "deny"\nfacts = { files = { "b.sh" = "rm -rf /" } }\n'
        '[[test]]\ncall = "bash cat notes"\nexpect = "deny"\nreason = "floor"\n'
        'facts = { symlinks = { "notes" = "/home/user/.ssh/id_ed25519" } }\n'
        '[[test]]\ncall = "bash cat notes"\nexpect = "allow"\n'
    )
    (machine.project / "notes").symlink_to("/etc/shadow")
    assert machine.run("test").stdout.startswith("3 cases in 1 file: all hold")


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        ("", "no test found; add `[[test]]`"),
        (
            '[[test]]\ncall = "bash ls"\nexpect = "alow"\n',
            ".assent.toml:3: `alow` is no outcome; did you mean `allow`?",
        ),
        ('ask = ["bash(ls"]\n[[test]]\ncall = "bash ls"\nexpect = "ask"\n', ".assent.toml:1: "),
    ],
)
def test_a_mistake_is_an_error_with_the_next_step(machine: Machine, policy: str, says: str) -> None:
    (machine.project / ".assent.toml").write_text(policy)
    done = machine.run("test")
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr


def test_a_path_that_does_not_exist_is_an_error(machine: Machine) -> None:
    done = machine.run("test", "gone.assent-test.toml")
    assert (done.returncode, done.stderr) == (
        2,
        "assent: gone.assent-test.toml: there is no such file; check the path\n",
    )


def test_a_thousand_cases_of_the_corpus_hold_and_are_reported_in_order(machine: Machine) -> None:
    """Decided by several processes; the corpus says how each ends."""
    plain = {"id", "tool", "input", "mode", "expect", "code", "note"}
    given = [row for name in ("core", "dangers", "bypass", "everyday") for row in rows(name)]
    found = [row for row in given if row.keys() <= plain and row["expect"] not in ("not-allow", "error")]
    tables = [
        f'[[test]]\nname = "{row["id"]}"\ncall = {{ tool = "{row["tool"]}", input = {_toml(row["input"])} }}\n'
        f'expect = "{row["expect"]}"\ncwd = "/workspace/repo"\n'
        + (f'mode = "{row["mode"]}"\n' if "mode" in row else "")
        for row in found
    ]
    assert len(tables) > 200
    while len(tables) < 1000:
        tables += tables
    (machine.project / "many.assent-test.toml").write_text("\n".join(tables[:1000]))
    done = machine.run("test", "--jobs", "3", "--junit", "out.xml")
    assert done.returncode == 0, done.stdout[:3000]
    assert done.stdout.startswith("1000 cases in 1 file: all hold")
    suite = ElementTree.parse(machine.project / "out.xml").getroot()[0]
    assert [each.get("name") for each in suite][: len(found)] == [row["id"] for row in found][:1000]


def _toml(value: object) -> str:
    """A JSON value as TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


def test_junit_has_a_suite_for_each_file_and_the_receipt_of_a_failure(machine: Machine) -> None:
    (machine.project / ".assent.toml").write_text(POLICY + FAILS)
    (machine.project / "a.assent-test.toml").write_text('[[test]]\ncall = "bash ls"\nexpect = "allow"\n')
    assert machine.run("test", "--junit", "out.xml").returncode == 1
    root = ElementTree.parse(machine.project / "out.xml").getroot()
    assert [(suite.get("name"), suite.get("tests"), suite.get("failures")) for suite in root] == [
        (".assent.toml", "2", "1"),
        ("a.assent-test.toml", "1", "0"),
    ]
    failed = root[0][1]
    assert (failed.get("name"), failed.get("line")) == (r"the \u{1b}[31mlist", "10")
    told = failed[0]
    assert (told.get("message") or "").startswith("expected deny, got allow; expected the reason")
    assert (told.text or "").startswith("ALLOW  bash ls")
