"""tar and dd."""

from __future__ import annotations

from tests.unit.effects.shell.commands.commands import does


def test_listing_reads() -> None:
    for command in ("tar tf a.tar", "tar -tvf a.tar", "tar --list --file=a.tar", "tar tzf a.tar x"):
        assert does(command) == ["READ a.tar"]


def test_packing_reads_members_and_writes_the_archive() -> None:
    assert does("tar czf a.tgz b c") == ["WRITE a.tgz", "READ+ b", "READ+ c"]
    assert does("tar -cf - b") == ["READ+ b"]
    assert does("tar cf a.tar -C sub b") == ["WRITE a.tar", "READ+ b", "READ+ sub/b"]
    assert "READ+ ?" in does("tar cf a.tar -T list")


def test_unpacking_writes_below_a_folder() -> None:
    assert does("tar xf a.tar") == ["READ a.tar", "WRITE+ /w", "EXECUTE <tar>"]
    assert does("tar -xf a.tar -C /tmp/x") == ["READ a.tar", "WRITE+ /tmp/x", "EXECUTE <tar>"]
    assert does("tar xOf a.tar b") == ["READ a.tar"]
    assert "WRITE+ ?" in does("tar xPf a.tar")


def test_commands_in_options_are_seen() -> None:
    assert does("tar xf a.tar --to-command='rm x'") == ["READ a.tar", "SHELL rm x"]
    for option in ("--checkpoint-action=exec=x", "-I ./x", "--rsh-command=x", "--info-script=x", "--to-comm=x"):
        assert any(line.startswith(("EXECUTE", "SHELL")) for line in does(f"tar tf a.tar {option}")), option


def test_an_archive_on_a_host_is_fetched() -> None:
    assert does("tar tf host:a.tar") == ["FETCH host", "EXECUTE <tar>"]
    assert does("tar tf host:a.tar --force-local") == ["READ host:a.tar"]


def test_no_mode_or_two_are_not_known() -> None:
    assert "EXECUTE <tar>" in does("tar -f a.tar")
    assert "EXECUTE <tar>" in does("tar -xcf a.tar")


def test_dd_reads_and_writes_by_name() -> None:
    assert does("dd if=a of=b bs=1M") == ["READ a", "WRITE b"]
    assert does("dd if=/dev/zero of=/dev/sda") == ["READ /dev/zero", "WRITE /dev/sda !raw-device"]
    assert does("dd if=a of=/dev/null") == ["READ a"]
    assert does("dd x") == ["EXECUTE <dd>"]
