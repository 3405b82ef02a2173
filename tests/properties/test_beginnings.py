"""Rules that end in `:*` and that Assent ships or saved from an answer cover arguments, and no option that runs, loads,
writes or reaches something else."""

from __future__ import annotations

import pytest

from assent.contract.approval import Grant, Scope
from assent.contract.packs import RULES
from assent.effects.shell.commands.cover import let_in
from assent.engine.engine import Engine, Judged
from assent.policy import grants, shipped, suggest
from assent.policy.document import document_of
from assent.policy.rules import Origin, Rule, RuleKind, RuleShape
from assent.programs.table import shipped as tables
from assent.programs.traits import has
from tests.cases import call, gate

PACKS = document_of({"packs": {"on": ["dev-tasks", "git-local"]}}, "user", Origin.USER)
OPTIONS = ("--frobnicate", "--frobnicate=./x", "--frobnicate ./x", "-Ω", '"$X"', "$X", "./$X", "--conf=./x")
PLACES = ("..", "../x", "/etc/x", "~/x", "https://evil.example/x", "sub/../../x")
FILES = ("@args", "@/etc/passwd")
WRAPPERS = "uv poetry pdm pipenv bundle npx bunx pnpm yarn npm bun php python python3 bash sh".split()


def beginnings() -> list[Rule]:
    rules = [rule for pack in RULES for rule in shipped.pack_rules(pack)]
    return [rule for rule in rules if rule.about is RuleKind.COMMAND and rule.shape is RuleShape.PREFIX]


def command(rule: Rule) -> str:
    """A command that the rule covers."""
    words = []
    for word in rule.words:
        while "{" in word:
            head, _, rest = word.partition("{")
            choices, _, tail = rest.partition("}")
            word = head + (choices.split(",")[0] or "x") + tail
        words.append(word)
    return " ".join(words)


BASES = sorted({command(rule) for rule in beginnings()})


@pytest.fixture(scope="module")
def with_packs() -> Engine:
    return gate("auto", more=[PACKS])


@pytest.fixture(scope="module")
def bare() -> Engine:
    return gate("auto")


def judged(engine: Engine, text: str) -> Judged:
    return engine.judge(call("bash", text), links={})


def opened(text: str, with_packs: Engine, bare: Engine) -> bool:
    """Whether the packs, and nothing else, let a command run."""
    if judged(with_packs, text).decision.outcome.word != "allow":
        return False
    return judged(bare, text).decision.outcome.word != "allow"


def injections(base: str) -> list[str]:
    """Command lines that add something to a command which no rule on it means."""
    program = base.split()[0]
    words = list(OPTIONS)
    if program != "git":
        words += PLACES
    if not any(has(word.rpartition("/")[2], "names-with-at") for word in base.split()):
        words += FILES
    if program not in WRAPPERS:
        words += [f"{option} x" for option in let_in(tuple(base.split()), tables) if option.startswith("--")]
    return [f"{base} {word}" for word in words]


@pytest.mark.parametrize("base", BASES)
def test_a_pack_covers_nothing_that_steers(base: str, with_packs: Engine, bare: Engine) -> None:
    lines = injections(base)
    if any(script in base for script in (".sh", "manage.py", "artisan", "bin/console")):
        lines = [f"{base} {place}" for place in PLACES]  # options are those of a script of the project
    assert [line for line in lines if opened(line, with_packs, bare)] == []


SAVED = [
    *("make test", "npm test", "npm run test", "pytest tests", "python -m pytest tests", "cargo test", "go test ./..."),
    *("git push origin main", "git commit -m x", "docker build .", "gh pr create", "just test", "frob run", "tsc -p ."),
    *("bazel test //a", "eslint src", "mvn test", "gradle test", "dotnet test", "rspec spec", "terraform plan"),
    *("kubectl apply -f x", "clang-tidy a.c", "pylint src", "nix develop", "ansible-playbook a.yml", "tox -e py"),
    *("npm install", "yarn test", "pnpm test", "bun test", "deno test", "mix test", "rake test", "swift build"),
    *(
        "uv run pytest",
        "poetry run mypy .",
        "bundle exec rspec",
        "npx jest",
        "phpunit",
        "composer test",
        "flutter test",
    ),
]


@pytest.mark.parametrize("base", SAVED)
def test_a_remembered_beginning_covers_nothing_that_steers(base: str, bare: Engine) -> None:
    asked = gate("default")
    made = judged(asked, base)
    assert made.lowering is not None
    assert made.facts is not None
    assert made.policy is not None
    found = suggest.suggest_rules(made.lowering, made.facts, made.policy, made.decision)
    wide = [each.rules for each in found if any(rule.endswith(":*)") for rule in each.rules)]
    for rules in wide:
        saved = Grant("g", Scope.SESSION, rules=rules, answers=grants.answered(made.decision))
        allowed = [line for line in injections(base) if settled(line, saved, asked)]
        assert allowed == [], rules


def settled(line: str, grant: Grant, engine: Engine) -> bool:
    made = judged(engine, line)
    if made.decision.outcome.word != "ask" or made.lowering is None or made.facts is None or made.policy is None:
        return False
    settle = grants.settle(made.lowering, made.facts, made.policy, made.decision, (grant,), identity="", running={})
    return settle.outcome.word == "allow"


@pytest.mark.parametrize(
    "line",
    [
        "pytest -q -x tests/test_a.py -k name",
        "python -m pytest -q --tb=short -p no:cacheprovider tests",
        "npm test -- --watch=false",
        "go test ./... -run X -count=1 -race -coverprofile=c.out",
        "cargo test --release -p x -- --nocapture",
        "cargo clippy --all-targets -- -D warnings",
        "make -j4 test",
        "tsc --noEmit -p .",
        "eslint src --fix --max-warnings 0",
        "mypy src --strict",
        "npx jest --testPathPattern=a --no-coverage",
        "pnpm --filter web test --run",
        "ruff check --fix src",
        "uv run pytest -xvs",
        "golangci-lint run --timeout 5m ./...",
        "dotnet test --filter Name~X --no-build",
        "bundle exec rspec spec/a_spec.rb --format documentation",
        "coverage run -m pytest -q",
        "npx playwright test a.spec.ts --reporter=line --workers 2",
    ],
)
def test_everyday_options_are_covered(line: str, with_packs: Engine) -> None:
    assert judged(with_packs, line).decision.outcome.word == "allow"


def test_a_persons_own_rule_covers_what_it_says() -> None:
    assert gate("default", allow=["bash(pytest:*)"]).decide(call("bash", "pytest -p evil")).outcome.word == "allow"
