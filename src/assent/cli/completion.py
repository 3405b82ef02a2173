"""`assent completion`: what a shell completes after `assent`, from the parsers of the commands."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

from assent.cli.command import takes
from assent.cli.commands import COMMANDS, GATHERED, Parser, build_parser, summary, verb_summary

SHELLS = ("bash", "zsh", "fish")
DESCRIPTION = "Print a script that completes the names of commands, verbs and options."
EPILOG = (
    'bash: eval "$(assent completion bash)" in ~/.bashrc; zsh: eval "$(assent completion zsh)" in ~/.zshrc, after '
    "compinit; fish: assent completion fish > ~/.config/fish/completions/assent.fish"
)
arguments = takes({"shell": {"metavar": "SHELL", "choices": SHELLS, "help": ", ".join(SHELLS)}})


@dataclass(frozen=True, slots=True)
class Following:
    """What can follow the words of a command line."""

    words: dict[str, str]  # a word and what it means
    values: dict[str, tuple[str, ...]]  # an option and the values that it takes


def run(options: argparse.Namespace) -> int:
    print({"bash": bash, "zsh": zsh, "fish": fish}[options.shell](steps()))
    return 0


def steps() -> dict[str, Following]:
    """By the words after `assent`: none, a command, or a command and its verb."""
    found = {"": Following({name: summary(name) for name in (*COMMANDS, *GATHERED)}, {})}
    for name, parser in build_parser().verbs.items():
        found.update(_steps(name, parser))
    for name, each in GATHERED.items():
        found[name] = Following({verb: verb_summary(words) for verb, words in each.verbs.items()}, {})
        for verb, words in each.verbs.items():
            below = " ".join(words)
            same = [(path, step) for path, step in found.items() if path == below or path.startswith(f"{below} ")]
            found.update({f"{name} {verb}{path.removeprefix(below)}": step for path, step in same})
    return found


def _steps(path: str, parser: Parser) -> Iterator[tuple[str, Following]]:
    words, values = {}, {}
    for action in parser.listed:
        choices = tuple(map(str, action.choices or ()))
        words.update(dict.fromkeys(action.option_strings, action.help or ""))
        if not action.option_strings:
            words.update(dict.fromkeys(choices, ""))
        elif choices:
            values.update(dict.fromkeys(action.option_strings, choices))
    for verb, inner in parser.verbs.items():
        words[verb] = (inner.description or "").partition(". ")[0].rstrip(".")
        yield from _steps(f"{path} {verb}", inner)
    yield path, Following(words, values)


def bash(found: dict[str, Following]) -> str:
    cases = "\n".join(f"    {_key(path)}) words={_quoted(' '.join(step.words))} ;;" for path, step in found.items())
    return f"""_assent() {{
  local path='' words='' word last="${{COMP_WORDS[COMP_CWORD-1]}}"
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "${{path:+$path }}$word" in {_paths(found)}) path="${{path:+$path }}$word" ;; esac
  done
  case "$path" in
{cases}
  esac
  case "$path $last" in
{_value_cases(found)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _assent assent"""


def zsh(found: dict[str, Following]) -> str:
    cases = "\n".join(
        f"    {_key(path)}) found=({' '.join(_described(word, line) for word, line in step.words.items())}) ;;"
        for path, step in found.items()
    )
    return f"""#compdef assent
_assent() {{
  local path_='' word words_='' last="${{words[CURRENT-1]}}"
  local -a found
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    case "${{path_:+$path_ }}$word" in {_paths(found)}) path_="${{path_:+$path_ }}$word" ;; esac
  done
  case "$path_" in
{cases}
  esac
  case "$path_ $last" in
{_value_cases(found, "words_")}
  esac
  if [[ -n "$words_" ]]; then compadd -- ${{=words_}}; else _describe 'assent' found || _files; fi
}}
compdef _assent assent"""


def fish(found: dict[str, Following]) -> str:
    lines = [
        "function __assent_path",
        "    set -l path ''",
        "    for word in (commandline -opc)[2..-1]",
        '        switch (string trim "$path $word")',
        f"            case {' '.join(_quoted(path) for path in found if path)}",
        '                set path (string trim "$path $word")',
        "        end",
        "    end",
        "    echo $path",
        "end",
        "complete -c assent -e",
    ]
    for path, step in found.items():
        here = f"test (__assent_path) = {_quoted(path)}" if path else "test -z (__assent_path)"
        for word, line in step.words.items():
            choices = step.values.get(word)
            values = f" -x -a {_quoted(' '.join(choices))}" if choices else ""
            lines.append(f"complete -c assent -n {_quoted(here)} {_fish_word(word)}{values} -d {_quoted(line)}")
    return "\n".join(lines)


def _fish_word(word: str) -> str:
    if word.startswith("--"):
        return f"-l {word[2:]}"
    return f"-s {word[1:]}" if word.startswith("-") else f"-a {_quoted(word)}"


def _paths(found: dict[str, Following]) -> str:
    return "|".join(_quoted(path) for path in found if path)


def _value_cases(found: dict[str, Following], variable: str = "words") -> str:
    return "\n".join(
        f"    {_key(f'{path} {option}')}) {variable}={_quoted(' '.join(values))} ;;"
        for path, step in found.items()
        for option, values in step.values.items()
    )


def _key(path: str) -> str:
    return _quoted(path)


def _described(word: str, line: str) -> str:
    return _quoted(f"{word}:{line}" if line else word)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
