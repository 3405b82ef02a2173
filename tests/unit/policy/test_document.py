"""Every mistake in a configuration file is an error with its line and a suggestion."""

from __future__ import annotations

import pytest

from assent.contract import PolicyError
from assent.policy.document import read_document
from assent.policy.modes import Mode
from assent.policy.rules import Origin

WHOLE = """\
mode = "auto"
max_mode = "full_auto"
untrusted_mode = "plan"
allow = ["bash(cargo test:*)", "write(docs/**)"]
ask = [
  "bash(git push:*)",
]
deny = ["path(/etc/*)", { rule = "bash(npm publish:*)", message = "by CI", match = ["npm publish --tag next"] }]
[packs]
on = ["dev-tasks"]
[defaults]
off = ["env-files"]
[approval]
timeout = 60
route = "broker"
[workspace]
extra = ["~/notes"]
[commands."bd list"]
options = "--json"
"""


def test_a_whole_file_reads_as_written() -> None:
    document = read_document(WHOLE, "c.toml", Origin.USER)
    assert (document.mode, document.max_mode, document.untrusted_mode) == (Mode.AUTO, Mode.FULL_AUTO, Mode.PLAN)
    assert [(rule.text, rule.source) for rule in (*document.allow, *document.ask, *document.deny)] == [
        ("bash(cargo test:*)", "c.toml:4"),
        ("write(docs/**)", "c.toml:4"),
        ("bash(git push:*)", "c.toml:6"),
        ("path(/etc/*)", "c.toml:8"),
        ("bash(npm publish:*)", "c.toml:8"),
    ]
    assert document.deny[1].message == "by CI"
    assert (document.packs, document.off, document.timeout, document.route) == (
        ("dev-tasks",),
        ("env-files",),
        60,
        "broker",
    )
    assert document.extra == ("~/notes",)
    assert document.commands == {"bd list": {"options": "--json"}}


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ('mode = "auto"\ndenny = []\n', 2, "did you mean `deny`?"),
        ('\n\nmode = "atuo"\n', 3, "did you mean `auto`?"),
        ('allow = ["ls"]\ndeny = ["bash(ls"]\n', 2, "unbalanced"),
        ('deny = [\n  "a",\n  "bash(x",\n]\n', 3, "unbalanced"),
        ("deny = 3\n", 1, "list of rules"),
        ('deny = [{ rule = "bash", becuase = "x" }]\n', 1, "unknown key `becuase`"),
        ('deny = [{ rule = "bash", expires = "soon" }]\n', 1, "must be a date"),
        ('[approval]\ntimeout = "x"\n', 2, "number of seconds"),
        ('[approval]\nroute = "bothe"\n', 2, "did you mean `both`?"),
        ("[aproval]\n", 1, "did you mean `approval`?"),
        ("[defaults]\nlock = true\n", 2, "only the managed policy"),
        ("mode = \n", 1, "not valid TOML"),
        ('a = "x\n', 1, "not valid TOML"),
    ],
)
def test_a_mistake_names_file_line_and_what_to_do(text: str, line: int, says: str) -> None:
    with pytest.raises(PolicyError) as caught:
        read_document(text, "c.toml", Origin.USER)
    assert (caught.value.file, caught.value.line) == ("c.toml", line)
    assert says in str(caught.value)
    assert caught.value.suggestion


@pytest.mark.parametrize(
    "text", ['mode = "plan"', "allow = []", "[packs]\non = []", "[defaults]\noff = []", "[commands.x]\noptions = ''"]
)
def test_a_project_file_can_only_tighten(text: str) -> None:
    with pytest.raises(PolicyError, match="can only tighten"):
        read_document(text, ".assent.toml", Origin.PROJECT)


def test_an_expired_rule_is_left_out() -> None:
    text = 'deny = [{ rule = "bash(a)", expires = 2026-01-01 }, { rule = "bash(b)", expires = "2027-01-01" }]'
    document = read_document(text, "c.toml", Origin.USER, today="2026-06-01")
    assert [rule.text for rule in document.deny] == ["bash(b)"]
