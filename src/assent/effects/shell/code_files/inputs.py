"""Standard input that a program runs: code for an interpreter, statements for a database client, commands for another
machine, words of another command. It may be a file, which is read with the call."""

from __future__ import annotations

from assent.contract import Effect, Kind, Operation, Pattern, Target
from assent.effects.shell import flows
from assent.effects.shell.code_files import scripts
from assent.effects.shell.command import LISTED, Arg, CommandEffects, Run
from assent.effects.shell.commands.command_effects import EffectsBuilder
from assent.effects.shell.flows import Stream
from assent.effects.shell.record import ShellJob, Walk
from assent.effects.shell.state import FROM_FILE

_SENT_CODE = (".sh", ".bash")
_MOST_WORDS = 256
_QUOTES = Pattern(r"[\"'\\]")
_DELIMITED = Pattern(r"-[a-zA-Z]*[0d]|--null|--delim|--arg-file|--arg-sep|--colsep|-[CaX]|:::")


def texts(walk: Walk, job: ShellJob, reader: str) -> list[str]:
    """Every text that the standard input of a command may have; none if that is not known. `reader`: the program
    that runs it."""
    stdin = job.stdin
    if stdin.text is not None:
        return [stdin.text]
    found = [""] if stdin.files else []
    for choices in stdin.files:
        pieces = _pieces(walk, job, choices, reader)
        found = [text + piece for text in found for piece in pieces][: scripts.MOST_TEXTS]
    return found


def _pieces(walk: Walk, job: ShellJob, choices: tuple[Target, ...], reader: str) -> list[str]:
    """Every text of one of some files. For a glob or unknown names, also the text of all of them together."""
    if all(map(scripts.is_named, choices)):
        return [piece for target in choices for piece in scripts.texts_of(walk, job, target, reader)]
    from assent.effects.shell.code_files import candidates

    files = candidates.files(walk, job, list(choices), reader)
    pieces = [piece for target in files for piece in scripts.texts_of(walk, job, target, reader)]
    return ["\n".join(pieces), *pieces] if len(pieces) > 1 else pieces


def printed_files(job: ShellJob, effects: tuple[Effect, ...]) -> tuple[tuple[Target, ...], ...]:
    """The output of `cat` as a list of files."""
    words = job.argv[1:]
    reads = [each.target for each in effects if each.operation is Operation.READ and each.target.kind is Kind.PATH]
    known = all(target.name or target.under for target in reads)
    if job.place != "here" or not reads or not known or any(_is_option(word) for word in words):
        return ()
    if len(reads) == len(words):
        return tuple((each,) for each in reads)
    return (tuple(reads),)


def _is_option(word: str | Arg) -> bool:
    text = word if isinstance(word, str) else word.prefix or (word.values or ("",))[0]
    return text[:1] == "-"


def statements(walk: Walk, job: ShellJob, base: str, given: list[str]) -> CommandEffects:
    """The effects of the statements on a database client's input."""
    from assent.effects.code.statements import read_statements

    builder = EffectsBuilder(base, job.state.cwds[0] if job.place == "here" else "", walk.home)
    builder.subcommand = ("by its input",)
    for text in given:
        if text:
            read_statements(builder, text, tuple(job.argv[1:]))
    return builder.build()


def typed(walk: Walk, job: ShellJob, base: str) -> CommandEffects:
    """The visible effects of the code on a console's standard input."""
    from assent.effects.shell.commands import embedded_commands, given_code

    builder = EffectsBuilder(base, job.state.cwds[0] if job.place == "here" else "", walk.home)
    language = given_code.of_input(base, tuple(job.argv[1:]))
    for text in texts(walk, job, language) if language else ():
        given_code.read_input(builder, language, text)
    if not language:
        words = tuple(job.argv[1:])
        for text in texts(walk, job, base) if job.stdin.text is None else [job.stdin.text]:
            given_code.add_sent(builder, text, words)
            embedded_commands.add_input(builder, text)
    return builder.build()


def is_unread(job: ShellJob, base: str) -> bool:
    """Whether statements for a database are the unknown output of another command."""
    if job.stdin is flows.TERMINAL or job.stdin.text is not None or job.stdin.files:
        return False
    from assent.effects.shell.commands import given_code

    return given_code.is_console(base, tuple(job.argv[1:]))


def remote_script(walk: Walk, job: ShellJob, runs: tuple[Run, ...]) -> tuple[Run, ...]:
    """The commands that `ssh host` reads from its input. Unknown text is a gap."""
    if runs or job.stdin is flows.TERMINAL or job.stdin.text == "":
        return ()
    found = texts(walk, job, "sh")
    if not found:
        walk.gap("gap.shell.stdin-script", "give the other machine commands that can be read", job.start, job.end)
    return tuple(Run(script=text, place="elsewhere", shell="bash") for text in found)


def sent_code(job: ShellJob, runs: tuple[Run, ...]) -> bool:
    """Whether a file on the input of `ssh` is code to run on the other machine, not data."""
    from assent.effects.shell.commands.readers import shells

    files = [target.name for choices in job.stdin.files for target in choices]
    named = all(name.endswith(_SENT_CODE) for name in files)
    if job.stdin.taint != FROM_FILE or not files or not named or len(runs) > 1:
        return False
    words = (runs[0].script or "").split() if runs else ["sh"]
    words = words[1:] if words[:1] == ["sudo"] else words
    return bool(words) and flows.family(words[0]) == "shell" and shells.shell_reads_stdin(tuple(words))


def words(stdin: Stream, argv: tuple[str | Arg, ...], cwds: tuple[str, ...]) -> Arg | None:
    """Standard input as words of another command; whole lines if they replace a placeholder."""
    if stdin is flows.TERMINAL and "" not in cwds:
        return Arg("<terminal>", kind="paths", under=cwds)  # no names come: treat any as below the cwd
    if stdin.text is not None and not _QUOTES.search(stdin.text):
        options = [word for word in argv if isinstance(word, str) and word[:1] == "-"]
        lines = any(option.startswith(("-I", "-i", "--replace", "-L")) for option in options)
        found = [line.lstrip() for line in stdin.text.split("\n")] if lines else stdin.text.split()
        given = tuple(dict.fromkeys(word for word in found if word))
        if len(given) > _MOST_WORDS or any(map(_DELIMITED.match, options)):
            return None
        return Arg(stdin.text.strip(), given or ("",))
    if stdin.kind in LISTED:
        return Arg("<stdin>", kind=stdin.kind, under=stdin.under)
    return None
