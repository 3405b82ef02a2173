"""Makes texts to compare readings on, from a seed: commands grown from a grammar, and hand-written forms disturbed."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

_PIECES = (
    " ", "  ", "\t", "\n", "\\\n", "\\", "'", '"', "`", "$", "$(", ")", "(", "((", "))", "${", "}", "{", "$((",
    "$[", "]", "[", "[[", "]]", "<", ">", ">>", "<<E", "<<'E'", "<<-E", "\nE\n", "<<<", "<(", ">(", ">&", "<&",
    "&>", ">|", "<>", "|", "||", "|&", "&", "&&", ";", ";;", ";&", "#", " #", "!", "! ", "~", "=", "+=", "a=",
    "a=(", "a[", ",", "{a,b}", "..", "*", "?", "@(", ":-", "$'", '$"', "2>", "2", "-", "if ", "then ", "else ",
    "fi", "for ", " in ", "do ", "done", "while ", "case ", "esac", "function ", "time ", "coproc ", "x", "a b",
    "E", "f()", "=~ ", "== ", "declare ", "\r", "é",
)  # fmt: skip
_WORDS = (
    "ls",
    "-l",
    "a.txt",
    "/tmp",
    "x=1",
    "echo",
    "a#b",
    "1",
    "-",
    "--",
    "if",
    "done",
    "é",
    "a:b",
    "%",
    "^",
    "a,b",
    "..",
)
_NAMES = ("x", "y", "_z", "A1")


def disturbed(forms: Sequence[str], seed: int, count: int) -> list[str]:
    """Forms with pieces put in, taken out, doubled or swapped with pieces of other forms."""
    random = Random(seed)
    return [_disturb(random, forms) for _ in range(count)]


def _disturb(random: Random, forms: Sequence[str]) -> str:
    text = random.choice(forms)
    for _ in range(random.choice((1, 1, 1, 2, 2, 3))):
        at = random.randint(0, len(text))
        match random.randrange(6):
            case 0 | 1:
                text = text[:at] + random.choice(_PIECES) + text[at:]
            case 2:
                text = text[:at] + text[at + random.randint(1, 3) :]
            case 3:
                stop = min(len(text), at + random.randint(1, 6))
                text = text[:stop] + text[at:stop] + text[stop:]
            case 4:
                other = random.choice(forms)
                text = text[:at] + other[random.randint(0, len(other)) :]
            case _:
                other = random.choice(forms)
                text = random.choice(
                    (text + "\n" + other, f"$({text})", f"{{ {text}; }}", f'"{text}"', f"{text} | {other}")
                )
    return text


class Grammar:
    """Grows commands that are right, most of them, and as tangled as the depth allows."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.deepest = 0

    def text(self, depth: int = 3) -> str:
        self.deepest = depth
        return self.listing(depth)

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def listing(self, depth: int) -> str:
        """Commands with what is between them; it may end in a newline."""
        out = ""
        for left in reversed(range(self.random.choice((1, 1, 2, 2, 3)))):
            if self.random.randrange(12 if depth == self.deepest else 60) == 0:
                out += self.document(depth) + "\n"
                continue
            out += self.pipeline(depth)
            if left:
                out += self.pick("; ", " && ", " || ", " & ", "\n", ";", "&&", " ||\n", "\n\n", " # c\n")
        return out

    def document(self, depth: int) -> str:
        """A line with a here-document, and its text."""
        delimiter = self.pick("E", "'E'", "\\E", "E''", '"E"')
        rest = self.pick("", "", " | cat", " && ls", "; ls", " x", " & ls", " >f x", "; ls; pwd", " | (cat; ls)")
        body = self.pick(
            "a", "$x", "$(ls)", "b)", "it's", "`ls`", "${x:-$(ls)}", "\\$x", "a \\\n b", "$(ls; pwd)\n\nE E"
        )
        return f"{self.simple(0)} <<{delimiter}{rest}\n{body}\nE"

    def block(self, depth: int) -> str:
        body = self.listing(depth)
        return body if body.endswith("\n") else body + self.pick("; ", "\n", ";\n", " & ")

    def pipeline(self, depth: int) -> str:
        out = self.pick("", "", "", "", "! ", "time ") + self.command(depth)
        for _ in range(self.random.choice((0, 0, 0, 1, 2))):
            out += self.pick(" | ", "|", " |& ", " |\n") + self.command(depth)
        return out

    def command(self, depth: int) -> str:
        kind = self.random.randrange(16) if depth > 0 else 0
        inner = depth - 1
        match kind:
            case 8:
                body = "{ " + self.block(inner) + "}"
            case 9:
                body = f"({self.listing(inner)})"
            case 10:
                body = (
                    f"if {self.block(inner)}then {self.block(inner)}"
                    + self.pick("", f"else {self.block(inner)}")
                    + "fi"
                )
            case 11:
                body = self.pick("while ", "until ") + self.block(inner) + "do " + self.block(inner) + "done"
            case 12:
                words = " ".join(self.word(inner) for _ in range(self.random.randrange(3)))
                body = f"for {self.pick(*_NAMES)} in {words}" + self.pick("; ", "\n") + f"do {self.block(inner)}done"
            case 13:
                arms = "".join(
                    self.pick("", "(")
                    + self.word(0)
                    + ") "
                    + self.pick("", self.listing(inner))
                    + self.pick(" ;;\n", ";; ", " ;& ")
                    for _ in range(self.random.randrange(3))
                )
                body = f"case {self.word(inner)} in {arms} esac"
            case 14:
                body = f"[[ {self.test(inner)} ]]"
            case 15:
                return f"f{self.random.randrange(9)}() {{ {self.block(inner)}}}"
            case _:
                return self.simple(depth)
        return body + self.pick("", "", f" {self.redirect(inner)}")

    def test(self, depth: int) -> str:
        one = self.pick(
            f"-f {self.word(depth)}",
            f"{self.word(depth)} == {self.word(depth)}",
            f"! -n {self.word(depth)}",
            f"( {self.word(depth)} != a* )",
            "$x =~ ^(a|b c)+$",
        )
        return one + self.pick("", "", f" && {self.word(depth)} < b", f" || -z {self.word(depth)}")

    def simple(self, depth: int) -> str:
        pieces = [
            self.pick(*_NAMES) + self.pick("=", "+=") + self.word(depth)
            for _ in range(self.random.choice((0, 0, 0, 1)))
        ]
        pieces.append(self.pick("ls", "cat", "echo", "git", '"x"'))
        for _ in range(self.random.randrange(4)):
            pieces.append(self.redirect(depth) if self.random.randrange(5) == 0 else self.word(depth))
        return self.pick(" ", " ", "  ", " \\\n ").join(pieces)

    def redirect(self, depth: int) -> str:
        return self.pick(
            f">{self.word(0)}", f"2> {self.word(0)}", "2>&1", ">&2", f"< {self.word(depth)}", f">> {self.word(0)}",
            f"&> {self.word(0)}", f"<<< {self.word(depth)}",
            f"< <({self.listing(depth - 1) if depth > 0 else 'ls'})", "3<&-",
        )  # fmt: skip

    def word(self, depth: int) -> str:
        return "".join(self.piece(depth) for _ in range(self.random.choice((1, 1, 1, 2, 3))))

    def piece(self, depth: int) -> str:
        name = self.pick(*_NAMES)
        kind = self.random.randrange(20) if depth > 0 else self.random.randrange(12)
        inner = depth - 1
        match kind:
            case 5:
                return self.pick("'a b'", "'$x;'", "''", "'\"'", "'(#'")
            case 6:
                return self.pick(
                    '"a b"',
                    '"$x"',
                    '""',
                    '"a\\"b"',
                    '"it\'s"',
                    '"a;b|c"',
                    '"#"',
                    f'"{self.pick("a$(ls)b", "`ls`", "${x}")}"',
                )
            case 7:
                return self.pick("\\ ", "\\$", "\\\\", "\\'", "\\a", "\\;")
            case 8:
                return f"${name}"
            case 9:
                return self.pick("*", "?", "[a-z]", "*.c", "~", "{}", "$'a\\nb'", "@", "+", "{a,b}", "{1..3}")
            case 10:
                return "${" + name + self.pick("}", ":-a b}", "%.*}", "##*/}", "/a/b}", "^^}", ":1:2}", "[0]}", "[@]}")
            case 11:
                return self.pick("$((1+2))", "$(( (x) * 3 ))", "$?", "$#", "$@", "$[1]")
            case 12 | 13:
                return f"$({self.listing(inner)})"
            case 14:
                return f'"$({self.listing(inner)})"'
            case 15:
                return "${" + name + self.pick(":-", ":=", "+", "%", "#") + self.word(inner) + "}"
            case 16:
                return f"<({self.listing(inner)})"
            case 17:
                return f"$(( {name} + $({self.simple(0)}) ))"
            case 18:
                return f"$(cat <<E\n{self.pick('a', '$x', '$(ls)', 'b)')}\nE\n)"
            case _:
                return self.pick(*_WORDS)


def grown(seed: int, count: int, depth: int = 3) -> list[str]:
    """Texts grown from the grammar."""
    grammar = Grammar(seed)
    return [grammar.text(depth) for _ in range(count)]
