"""The laws of reading shell text: what is added to a command never loosens the answer, nothing makes the reader fail,
and its limits never weaken a denial."""

from __future__ import annotations

import itertools
import threading
import time
from functools import cache

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from assent.contract import Outcome
from assent.effects.shell import lower
from assent.engine.engine import Engine
from tests.cases import HOME, ROOT, call, gate
from tests.examples import examples

MODES = ("plan", "default", "auto", "full_auto", "yolo")
RULES: dict[str, dict[str, list[str]]] = {
    "none": {},
    "deny": {"deny": ["bash(rm:*)", "bash(git push:*)", "bash(npm publish)", "read(**/.env)", "bash(curl * http:*)"]},
    "ask": {"ask": ["bash(git:*)", "bash(npm test)", "write(src/**)", "bash(find:*)", "fetch(domain:example.com)"]},
    "allow": {"allow": ["bash(npm test)", "bash(npm run:*)", "bash(git add:*)", "write(out/**)", "bash(make)"]},
    "both": {"allow": ["bash(git:*)", "bash(rm:*)"], "deny": ["bash(rm -rf:*)"], "ask": ["bash(git push:*)"]},
}
SETTINGS = st.tuples(st.sampled_from(MODES), st.sampled_from(list(RULES)))

COMMANDS = [
    tuple(line.split())
    for line in """
    ls
    ls -la src
    cat README.md
    cat .env
    cat /home/user/.ssh/id_rsa
    head -n 5 src/app.py
    grep -rn TODO src
    find . -name app.py
    find . -name app.py -delete
    git status
    git log --oneline -5
    git diff HEAD
    git add src
    git commit -m text
    git push origin main
    git push --force origin main
    git reset --hard
    git -C sub push
    git branch -D old
    npm test
    npm run build
    npm publish
    make
    make test
    ./run.sh
    python script.py
    pytest -q tests
    rm old.txt
    rm -rf build
    rm -rf /
    rm -r -f src
    mv a.txt b.txt
    cp a.txt src/b.txt
    cp .env /tmp/x
    mkdir -p out/a
    touch src/new.py
    tee out/log
    sed -n 1p a.txt
    sed -i s/a/b/ src/app.py
    sort -o out/sorted a.txt
    chmod +x run.sh
    chmod -R 777 /
    curl https://example.com/x
    curl -o out/x http://example.com
    wget https://example.com/x
    dd if=/dev/zero of=/dev/sda
    kill -9 1
    echo hello
    true
    docker ps
    docker rm x
    kubectl delete namespace prod
    terraform destroy
    pip install x
    crontab -r
    shutdown now
    """.strip().splitlines()
]
WORDS = st.sampled_from(COMMANDS)

SHELL_WORDS = [
    "",
    "",
    "!",
    "time",
    "time -p",
    "command",
    "command -p",
    "exec",
    "exec -a x",
    "builtin command",
    "! time",
]
INERT = (
    """
env | env X=1 | env -u X | nice | nice -n 5 | nohup | setsid | timeout 5 | timeout -s KILL 5m | stdbuf -oL | ionice -c 3
xargs | xargs -n 1 | find . -maxdepth 0 -exec | flock x | strace -f | watch -n 1 | chrt -i 0 | taskset 1
setarch x86_64 | env -C . | nice -5 | timeout -k 1 5
""".strip()
    .replace("\n", " | ")
    .split(" | ")
)
PRIVILEGED = ["sudo", "sudo -u root", "sudo -E", "doas", "pkexec", "sudo env", "runuser -u x --"]
SHELLS = ["bash -c", "sh -c", "bash -lc", "eval", "env bash -c", "sudo sh -c", "timeout 5 bash -ec", "dash -c", "su -c"]
OTHERS = ["ls", "true", "echo hi", "cat README.md", "git status", "x=1", "grep -q x a.txt", "test -f a.txt", ":"]
JOINTS = [" && ", "; ", " | ", "\n", " & ", " || ", ";", "|", " |& "]
ASSIGNMENTS = [
    *("X=1", "NODE_ENV=test", "LC_ALL=C", "PATH=.:$PATH", "LD_PRELOAD=./x.so", "GIT_PAGER=cat", "PAGER=less", "IFS=,"),
    *("HOME=/tmp", "PYTHONPATH=.", "BASH_ENV=x", "X=$(ls)", "X=~", "X='a b'", "a[0]=1", "GIT_DIR=/tmp/x", "EDITOR=vi"),
]
PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+,:=@%")


@cache
def made(mode: str, rules: str) -> Engine:
    return gate(mode, **RULES[rules])  # type: ignore[arg-type]  # lists of rules only


def outcome(text: str, setting: tuple[str, str]) -> Outcome:
    return made(*setting).decide(call("bash", text), links={}).outcome


def respelled(word: str, way: int, at: int) -> str:
    """A word of plain characters, written in another way that every shell reads as the same."""
    at = at % len(word)
    head, tail = word[:at], word[at:]
    return (
        word,
        f"'{word}'",
        f'"{word}"',
        f"{head}\\{tail}",
        f"$'{word}'",
        f"{head}''{tail}",
        f'{head}"{tail}"',
        f"{head}\\\n{tail}",
        f"$'\\x{ord(word[0]):02x}'{word[1:]}",
        f"$'\\{ord(word[0]):03o}{word[1:]}'",
    )[way]


def single_quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


# ------------------------------------------------------------ adding never loosens


@examples(400)
@given(
    WORDS, st.sampled_from(SHELL_WORDS), st.lists(st.sampled_from(INERT + PRIVILEGED), min_size=1, max_size=3), SETTINGS
)
def test_a_wrapper_never_loosens(
    words: tuple[str, ...], first: str, wrappers: list[str], setting: tuple[str, str]
) -> None:
    text = " ".join(words)
    wrapped = " ".join((first, *wrappers, text)).strip()
    if any(wrapper.startswith("find") for wrapper in wrappers):
        wrapped += " \\;"
    assert outcome(wrapped, setting) >= outcome(text, setting), wrapped


@examples(300)
@given(WORDS, st.lists(st.sampled_from(SHELLS), min_size=1, max_size=3), SETTINGS)
def test_a_shell_that_is_given_the_command_never_loosens(
    words: tuple[str, ...], shells: list[str], setting: tuple[str, str]
) -> None:
    text = " ".join(words)
    wrapped = text
    for shell in shells:
        wrapped = f"{shell} {single_quoted(wrapped)}"
    assert outcome(wrapped, setting) >= outcome(text, setting), wrapped


@examples(400)
@given(st.lists(st.one_of(WORDS.map(" ".join), st.sampled_from(OTHERS)), min_size=2, max_size=4), st.data(), SETTINGS)
def test_chaining_never_loosens(parts: list[str], data: st.DataObject, setting: tuple[str, str]) -> None:
    text = parts[0]
    for part in parts[1:]:
        text += data.draw(st.sampled_from(JOINTS)) + part
    assert outcome(text, setting) >= max(outcome(part, setting) for part in parts), text


@examples(300)
@given(
    WORDS,
    st.sampled_from(
        [
            *(
                "{ %s; }",
                "( %s )",
                "if true; then %s; fi",
                "while true; do %s; break; done",
                "for i in 1 2; do %s; done",
            ),
            *("case a in a) %s ;; esac", "f() { %s; }; f", "echo $(%s)", "x=`%s`", 'echo "$(%s)"', "cat <(%s)", "%s &"),
            *("trap '%s' EXIT", "[[ -n $(%s) ]]", "cat <<E\n$(%s)\nE", "a=($(%s))", "echo ${x:-$(%s)}", "coproc %s"),
            *("if %s; then ls; fi", "until %s; do ls; done", "echo $((a[$(%s)]))", "time { %s; }", "ls > $(%s)"),
        ]
    ),
    SETTINGS,
)
def test_a_construct_around_it_never_loosens(words: tuple[str, ...], around: str, setting: tuple[str, str]) -> None:
    text = " ".join(words)
    assert outcome(around % text, setting) >= outcome(text, setting), around % text


@examples(400)
@given(WORDS, st.lists(st.tuples(st.integers(0, 9), st.integers(0, 20)), min_size=8, max_size=8), SETTINGS)
def test_quoting_never_loosens(words: tuple[str, ...], ways: list[tuple[int, int]], setting: tuple[str, str]) -> None:
    assume(all(PLAIN.issuperset(word) for word in words))
    text = " ".join(words)
    quoted = " ".join(respelled(word, *way) for word, way in zip(words, itertools.cycle(ways), strict=False))
    assert outcome(quoted, setting) >= outcome(text, setting), quoted


@examples(300)
@given(WORDS, st.lists(st.sampled_from(ASSIGNMENTS), min_size=1, max_size=2), st.sampled_from([" ", "; "]), SETTINGS)
def test_an_assignment_before_it_never_loosens(
    words: tuple[str, ...], assignments: list[str], joint: str, setting: tuple[str, str]
) -> None:
    text = " ".join(words)
    assigned = joint.join((*assignments, text))
    assert outcome(assigned, setting) >= outcome(text, setting), assigned


@examples(200)
@given(
    WORDS,
    st.sampled_from(
        ["> out.txt", "2>&1", "< a.txt", ">> out/log", "2> /dev/null", "&> x", "<<< text", "3<> x", ">| src/x"]
    ),
    st.integers(0, 5),
    SETTINGS,
)
def test_a_redirection_anywhere_never_loosens(
    words: tuple[str, ...], redirect: str, place: int, setting: tuple[str, str]
) -> None:
    at = place % (len(words) + 1)
    text = " ".join((*words[:at], redirect, *words[at:]))
    assert outcome(text, setting) >= outcome(" ".join(words), setting), text


SAME = [
    group.splitlines()
    for group in """\
rm -rf build
rm -fr build
rm -r -f build
rm --recursive --force build
rm build -rf
rm -f build -r

rm -r build
rm -R build
rm --recursive build
rm build --recursive
rm -r -- build

git push --force origin main
git push -f origin main
git push origin --force main
git push origin main -f

git -C sub push --force
git -C sub push -f
git -C sub --no-pager push -f
git --no-pager -C sub push --force

sort -u -o out/x a.txt
sort a.txt -uo out/x
sort -uoout/x a.txt
sort --unique --output=out/x a.txt

ls -la src
ls -l -a src
ls src -la
ls -al src
ls src -a -l

grep -rn TODO src
grep TODO src -rn
grep -n -r TODO src
grep -e TODO -rn src
grep -rne TODO src

sed -i s/a/b/ src/x
sed --in-place s/a/b/ src/x
sed -e s/a/b/ -i src/x
sed -i -e s/a/b/ src/x

cp -r src /tmp/x
cp src /tmp/x -r
cp -R src /tmp/x
cp -t /tmp/x -r src
cp --recursive src /tmp/x

chmod -R 777 /
chmod 777 -R /
chmod --recursive 777 /
chmod 777 / -R

curl -o out/x https://example.com
curl https://example.com -o out/x
curl -oout/x https://example.com

git reset --hard
git reset --hard HEAD
git reset HEAD --hard

git clean -fd
git clean -f -d
git clean -df
git clean --force -d

tar -czf out/x.tgz src
tar czf out/x.tgz src
tar -c -z -f out/x.tgz src
tar --create --gzip --file=out/x.tgz src
""".split("\n\n")
]


@pytest.mark.parametrize("spellings", SAME, ids=[group[0] for group in SAME])
@pytest.mark.parametrize("rules", list(RULES))
@pytest.mark.parametrize("mode", MODES)
def test_moving_and_joining_flags_changes_nothing(spellings: list[str], rules: str, mode: str) -> None:
    answers = {text: outcome(text, (mode, rules)).word for text in spellings}
    assert answers == dict.fromkeys(spellings, answers[spellings[0]])


# ------------------------------------------------------------ reading never fails


def codes(text: str, shell: str = "bash") -> set[str]:
    return {gap.code for gap in lower(text, cwd=ROOT, home=HOME, shell=shell).gaps}


@examples(500)
@given(st.text(max_size=200), st.sampled_from(["", "bash", "sh", "zsh"]))
@example("\x00", "bash")
@example("\ud800", "bash")
def test_any_text_is_read_without_a_fault(text: str, shell: str) -> None:
    assert "gap.shell.internal" not in codes(text, shell)


SHELL_PIECES = st.lists(
    st.one_of(
        st.sampled_from(list("'\"\\$`(){}[]<>|&;#!=*?~ \t\n\r-+,./:@%^_019aEx\0")),
        st.sampled_from(
            ["$((", "))", "${", "$'", "<<E\n", "\nE\n", "<<-'E'\n", "[[ ", " ]]", "case a in a)", ";;", "esac"]
        ),
        st.sampled_from(
            ["for ", "in ", "do ", "done", "if ", "then ", "fi", "while ", "function f", "f()", "coproc ", "time "]
        ),
        st.sampled_from(
            ["ls ", "rm -rf x", "eval ", "x=", "a[", "]=", "${x:-", "${x/", "${!x", "${#", "@P}", "<(", ">("]
        ),
        st.sampled_from(["git ", "-c ", "find . ", "-exec ", "sed ", "awk ", "xargs ", "bash -c ", "env -S ", "sudo "]),
    ),
    max_size=60,
).map("".join)


@examples(1500)
@given(SHELL_PIECES, st.sampled_from(["", "bash", "sh", "zsh"]))
def test_any_text_of_shell_characters_is_read_without_a_fault(text: str, shell: str) -> None:
    assert "gap.shell.internal" not in codes(text, shell)


# ------------------------------------------------------------ limits

MEGABYTE = 1_000_000
DEEP = 500
NESTED = {
    "subshells": ("( ", " )"),
    "groups": ("{ ", "; }"),
    "substitutions": ("echo $(", ")"),
    "quoted substitutions": ('echo "$(', ')"'),
    "process substitutions": ("cat <(", ")"),
    "arithmetic": ("echo $((1+", "))"),
    "parameters": ("echo ${x:-", "}"),
    "conditions": ("if true; then ", "; fi"),
    "loops": ("while true; do ", "; done"),
    "cases": ("case a in a) ", ";; esac"),
    "functions": ("f() { ", "; }"),
    "arrays": ("a=($(", "))"),
    "subscripts": ("a[$(", ")]=1"),
    "wrappers": ("env ", ""),
    "evals": ("eval ", ""),
    "tests": ("[[ ( ", " ) ]]"),
    "commands by name": ("command ", ""),
    "builtins by name": ("builtin ", ""),
    "commands without globs": ("noglob ", ""),
    "commands for a login": ("- ", ""),
    "commands of a job": ("jobs -x ", ""),
    "commands of no known name": ("$x ", ""),
    "old arithmetic": ("echo $[1+", "]"),
    "subscripts of values": ("echo ${x[", "]}"),
    "offsets of values": ("echo ${x:", "}"),
    "patterns of values": ("echo ${x#", "}"),
    "braces": ("{a,", "}"),
    "extended globs": ("echo @(", ")"),
    "coprocesses": ("coproc { ", "; }"),
    "conditions of conditions": ("if ", "; then :; fi"),
    "else after else": ("if a; then b; else ", "; fi"),
    "named functions": ("function f { ", "; }"),
}
# What is known of a level, and how the next text is reached: a reader of texts goes as deep in each of them.
WITHIN = {
    "defaults": ("${x:-", '$(eval "$v%d")', "}"),
    "quoted defaults": ('"${x:-', '$(eval "$v%d")', '}"'),
    "removals": ("${x#", '`eval "$v%d"`', "}"),
    "arithmetic": ("$((1+", '$(eval "$v%d")', "))"),
    "old arithmetic": ("$[1+", '$(bash -c "$v%d")', "]"),
    "subscripts": ("${x[", '$(eval "$v%d")', "]}"),
    "offsets": ("${x:", '$(eval "$v%d")', ":1}"),
    "expressions in subscripts": ("$((a[", '$(eval "$v%d")', "]))"),
    "functions": ("${x:=", "$(f%d)", "}"),
}
LONG = {
    "a megabyte of segments": "a;" * (MEGABYTE // 2),
    "a megabyte of one word": "ls " + "a" * MEGABYTE,
    "a megabyte of words": "ls" + " a" * (MEGABYTE // 2),
    "a megabyte of quoted words": "ls" + " 'a'" * (MEGABYTE // 4),
    "a megabyte of lines": "ls\n" * (MEGABYTE // 3),
    "a megabyte of a comment": "ls #" + "a" * MEGABYTE,
    "a megabyte of a here-document": "cat <<E\n" + "a b c\n" * (MEGABYTE // 6) + "E\n",
    "a megabyte in double quotes": 'ls "' + "a" * MEGABYTE + '"',
    "a megabyte of assignments": "x=1 " * (MEGABYTE // 4),
    "ten thousand segments": "ls; " * 10_000,
    "ten thousand pipes": "ls | " * 10_000 + "ls",
    "ten thousand here-documents": "cat <<E\n$(ls)\nE\n" * 10_000,
    "ten thousand pending here-documents": "cat" + " <<E" * 10_000 + "\nE" * 10_000 + "\n",
    "ten thousand substitutions": "echo " + "$(ls) " * 10_000,
    "ten thousand variables": "".join(f"x{i}=$x{i - 1}; " for i in range(10_000)),
    "doubling": "x=a; " + "x=$x$x; " * 200 + "echo $x",
    "doubling braces": "echo " + "{a,b}" * 60,
    "a wide range": "echo {1..999999999}",
    "doubling functions": "f0() { :; }; "
    + "".join(f"f{i}() {{ f{i - 1}; f{i - 1}; }}; " for i in range(1, 60))
    + "f59",
    "doubling evals": "x='ls'; " + 'x="eval $x; $x"; ' * 60 + "$x",
    "doubling loops": "".join(f"for x{i} in 1 2; do " for i in range(40)) + "ls; " + "done; " * 40,
    "open substitutions": "$(" * 100_000,
    "open parentheses": "(" * 100_000,
    "open braces": "${" * 100_000,
    "open arithmetic": "$((" * 100_000,
    "back-quotes": "`" * 100_001,
    "single quotes": "'" * 100_001,
    "double quotes": '"' * 100_001,
    "backslashes": "\\" * 100_001,
    "dollars": "$" * 100_001,
    "brackets": "[" * 100_001,
    "brace openings": "{" * 100_001,
    "less-thans": "<" * 100_001,
    "quotes in quotes": "\"$(echo '" * 20_000,
    "line ends": "\n" * MEGABYTE,
    "blanks": " " * MEGABYTE + "ls",
    "continued lines": "\\\n" * (MEGABYTE // 2) + "ls",
    "globs": "ls " + "*" * 100_000,
    "globs and letters": "ls " + "*a" * 40 + "b",
    "brackets in globs": "ls " + "[a-z]*" * 40 + "b",
    "nested braces": "echo {a," * 500 + "}" * 500,
    "negations": "! " * 500 + "ls",
    "quoted shells": "bash -c '" * 500 + "ls" + "'" * 500,
    "sed": "sed -n '" + "p;" * 100_000 + "' a.txt",
    "awk": "awk '" + "{print}" * 50_000 + "' a.txt",
    "options": "ls" + " -l" * 100_000,
    "lists of python": "python3 -c 'x=" + "[" * 190 + "]" * 190 + "'",
    "functions of python": "python3 -c 'x=" + "lambda:" * 5000 + "1'",
    "signs of python": "python3 -c 'x=" + "- " * 9000 + "1'",
    "brackets of python in strings": "python3 -c 'x=" + '(")",' * 190 + ")" * 190 + "'",
    "branches of python": "python3 -c 'if x: y\n" + "elif x: y\n" * 5000 + "'",
    "expressions that are expanded twice": "echo " + "$((a[" * 36 + "\\$x" + "]))" * 36,
    "back-quotes in back-quotes": "`" + "".join("\\" * (2**level - 1) + "`" for level in range(1, 16)),
}


def timed_outcome(text: str, setting: tuple[str, str]) -> tuple[Outcome, float]:
    """The answer and its time, the best of three if the machine is busy."""
    best = 99.0
    for _ in range(3):
        start = time.process_time()
        answer = outcome(text, setting)
        best = min(best, time.process_time() - start)
        if best < 1:
            break
    return answer, best


HARMLESS = ("a megabyte of a comment", "line ends", "blanks", "continued lines")  # long, and yet read as a whole


@pytest.mark.parametrize("name", list(LONG))
def test_a_long_text_is_answered_in_time_and_never_allowed_by_its_length(name: str) -> None:
    answer, seconds = timed_outcome(LONG[name], ("full_auto", "none"))
    assert seconds < 3
    if len(LONG[name]) >= MEGABYTE and name not in HARMLESS:
        assert answer >= Outcome.ASK


@pytest.mark.parametrize(
    "name", ["a megabyte of segments", "a megabyte of lines", "ten thousand segments", "ten thousand pipes"]
)
def test_many_segments_are_asked_about(name: str) -> None:
    assert outcome(LONG[name], ("full_auto", "none")) >= Outcome.ASK


@pytest.mark.parametrize("name", list(NESTED))
def test_deep_nesting_is_answered_in_time_and_asked_about(name: str) -> None:
    left, right = NESTED[name]
    answer, seconds = timed_outcome(left * DEEP + "ls" + right * DEEP, ("full_auto", "none"))
    assert seconds < 3
    assert answer >= Outcome.ASK


def chained(name: str) -> str:
    """Texts that each nest nearly as deep as is read, and run the next in their midst."""
    left, middle, right = WITHIN[name]
    lines = []
    for level in range(20):
        text = f"echo {left * 36}{middle % (level + 1)}{right * 36}"
        lines += [f"f{level}() {{ {text}; }}", f"v{level}='{text}'"]
    return "\n".join([*lines, "v20=ls", "f20() { ls; }", 'eval "$v0"', "f0"])


@pytest.mark.parametrize("name", list(WITHIN))
def test_texts_that_nest_in_each_other_are_answered_in_time_and_asked_about(name: str) -> None:
    answer, seconds = timed_outcome(chained(name), ("full_auto", "none"))
    assert seconds < 3
    assert answer >= Outcome.ASK


def test_nesting_is_counted_so_that_the_stack_of_a_small_thread_is_enough() -> None:
    """Compiled functions know no other limit. A text that comes to one of Python's is one that is not counted."""
    nests = [left * DEEP + "ls" + right * DEEP for left, right in NESTED.values()]
    gaps: list[str] = []

    def read() -> None:
        for text in (*LONG.values(), *nests, *map(chained, WITHIN)):
            gaps.extend(gap.code for gap in lower(text, cwd=ROOT, home=HOME, shell="bash").gaps)

    before = threading.stack_size(256 * 1024)
    thread = threading.Thread(target=read)
    thread.start()
    threading.stack_size(before)
    thread.join()
    assert len(gaps) >= len(nests) + len(WITHIN)
    assert "gap.shell.internal" not in gaps


SEPARATED = [name for name in LONG if LONG[name].endswith(("; ", ";", "\n", "ls", "$x"))]


@pytest.mark.parametrize("name", [*SEPARATED, "a megabyte of words", "globs", "a wide range", "sed", "awk", "options"])
def test_a_denial_holds_before_and_after_a_long_text(name: str) -> None:
    setting = ("full_auto", "deny")
    after, seconds = timed_outcome(f"{LONG[name]}\nrm old.txt", setting)
    assert (after, seconds < 3) == (Outcome.DENY, True)
    assert outcome(f"rm old.txt\n{LONG[name]}", setting) is Outcome.DENY


@pytest.mark.parametrize("name", list(NESTED))
def test_a_denial_holds_beside_deep_nesting(name: str) -> None:
    left, right = NESTED[name]
    deep = left * DEEP + "ls" + right * DEEP
    assert outcome(f"rm old.txt\n{deep}", ("full_auto", "deny")) is Outcome.DENY
    assert outcome(f"{deep}\nrm old.txt", ("full_auto", "deny")) is Outcome.DENY


# Texts that the reader gives up on, each with another gap.
UNREAD = [
    "echo 'open\nrm old.txt",
    "ls )\nrm old.txt",
    "echo @(a|b)\nrm old.txt",
    "echo \x01\nrm old.txt",
    "cat" + " <<E" * 40 + "\nE" * 40 + "\nrm old.txt",
    "echo $(ls; `)\nrm old.txt",
    "cat <<$(x)\n$(x)\nrm old.txt",
    "( " * 500 + "rm old.txt" + " )" * 500,
    "coproc x y z ( \nrm old.txt",
    "echo ${x\nrm old.txt",
    "[[ a\nrm old.txt",
]


@pytest.mark.parametrize("text", UNREAD)
def test_a_denial_holds_in_a_text_that_is_not_read(text: str) -> None:
    assert outcome(text, ("full_auto", "deny")) is Outcome.DENY
    assert outcome(text, ("full_auto", "none")) is Outcome.ASK
