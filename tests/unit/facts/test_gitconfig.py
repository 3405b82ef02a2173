"""Git's configuration is read as git reads it, or not at all."""

from __future__ import annotations

import pytest

from assent.facts.gitconfig import GitConfigError, GitSetting, entries, runs_program

WHOLE = r"""# a comment
; another
[core]
	bare = false ; and one here
	pager = "less # not a comment" -R
[Remote "Origin \"x\" \\y"]
	URL = https://example.com/a.git
[old.Style] key=value
[a]b
	multi = one \
two
	escaped = a\tb\"c\"\\
	empty =
"""


def test_sections_subsections_quotes_comments_and_continuations() -> None:
    assert entries(WHOLE) == (
        GitSetting("core.bare", "", "false"),
        GitSetting("core.pager", "", "less # not a comment -R"),
        GitSetting("remote.url", 'Origin "x" \\y', "https://example.com/a.git"),
        GitSetting("old.key", "style", "value"),
        GitSetting("a.b", "", None),
        GitSetting("a.multi", "", "one two"),
        GitSetting("a.escaped", "", 'a\tb"c"\\'),
        GitSetting("a.empty", "", ""),
    )


def test_a_byte_order_mark_and_carriage_returns_change_nothing() -> None:
    assert entries("\ufeff[core]\r\n\tbare = true\r\n") == (GitSetting("core.bare", "", "true"),)


@pytest.mark.parametrize(
    "text",
    [
        "key = before a section",
        "[core",
        "[core] fsmonitor x",
        "[core]\n= x",
        '[core]\nx = "open',
        '[core]\nx = "open\n"',
        "[core]\nx = \\q",
        "[core]\nx = end\\",
        "[]\nx = 1",
        '[core "a]\nx = 1',
        "[core]\n1x = 1",
        "[core]\nx\x0c = 1",
        "[core]\nx = a\0b",
        "<<<<<<< ours",
    ],
)
def test_what_is_not_understood_is_unreadable(text: str) -> None:
    with pytest.raises(GitConfigError):
        entries(text)


def setting(text: str) -> bool:
    name, _, value = text.partition("=")
    section, _, rest = name.partition(".")
    subsection, _, key = rest.rpartition(".")
    return runs_program(GitSetting(f"{section}.{key}".lower(), subsection, value))


@pytest.mark.parametrize(
    "text",
    [
        "core.fsmonitor=.git/watch",
        "core.pager=sh -c x",
        "help.format=web",
        "help.htmlPath=http://example.com/",
        "help.browser=./x",
        "format.signatureFile=~/.ssh/id_rsa",
        "blame.ignoreRevsFile=../x",
        "pager.log=./page",
        "core.editor=vi",
        "core.sshCommand=ssh -x",
        "core.gitProxy=./proxy",
        "core.askPass=./ask",
        "core.alternateRefsCommand=./refs",
        "diff.external=./diff",
        "diff.word.command=./diff",
        "diff.word.textconv=antiword",
        "filter.x.clean=./clean",
        "filter.x.smudge=./smudge",
        "filter.x.process=./process",
        "filter.lfs.clean=git-lfs clean -- %f; touch pwned",
        "filter.lfs.process=./git-lfs filter-process",
        "alias.st=status",
        "alias.x=!touch pwned",
        "gpg.program=./gpg",
        "gpg.ssh.program=./sign",
        "gpg.ssh.defaultKeyCommand=./key",
        "interactive.diffFilter=./filter",
        "credential.helper=!f",
        "credential.https://example.com.helper=./helper",
        "merge.x.driver=./merge %O",
        "sequence.editor=./edit",
        "uploadpack.packObjectsHook=./hook",
        "protocol.ext.allow=always",
        "protocol.allow=always",
        "url.ext::sh -c x.insteadOf=https://",
        "remote.origin.url=ext::sh -c touch% pwned",
        "remote.origin.uploadpack=./upload",
        "remote.origin.vcs=x",
        "submodule.x.update=!touch pwned",
        "trailer.sign.command=./trailer",
        "trailer.sign.cmd=./trailer",
        "browser.x.cmd=./browse",
        "man.x.cmd=./man",
        "mergetool.x.cmd=./merge",
        "difftool.x.cmd=./diff",
        "tar.x.command=./tar",
        "gc.recentObjectsHook=./hook",
        "hook.x.command=./hook",
        "sendemail.sendmailCmd=./send",
        "lfs.extension.x.clean=./clean",
        "lfs.customtransfer.x.path=./transfer",
    ],
)
def test_a_key_that_names_a_program_is_seen(text: str) -> None:
    assert setting(text)


@pytest.mark.parametrize(
    "text",
    [
        "core.bare=false",
        "core.fsmonitor=true",
        "core.fsmonitor=false",
        "core.pager=cat",
        "help.format=man",
        "blame.ignoreRevsFile=.git-blame-ignore-revs",
        "core.repositoryformatversion=0",
        "core.autocrlf=input",
        "core.sshVariant=ssh",
        "pager.branch=false",
        "remote.origin.url=git@example.com:a/b.git",
        "remote.origin.fetch=+refs/heads/*:refs/remotes/origin/*",
        "remote.origin.promisor=true",
        "branch.main.merge=refs/heads/main",
        "branch.main.rebase=true",
        "submodule.x.update=checkout",
        "submodule.x.url=../x",
        "user.email=me@example.com",
        "url.git@example.com:.insteadOf=https://example.com/",
        "filter.lfs.clean=git-lfs clean -- %f",
        "filter.lfs.smudge=git-lfs smudge --skip -- %f",
        "filter.lfs.process=git-lfs filter-process",
        "filter.lfs.required=true",
        "credential.helper=store",
        "credential.username=me",
        "gpg.format=ssh",
        "gpg.program=gpg2",
        "merge.ours.driver=true",
        "merge.conflictStyle=zdiff3",
        "diff.algorithm=histogram",
        "protocol.file.allow=always",
        "protocol.ext.allow=never",
        "push.autoSetupRemote=true",
        "lfs.url=https://example.com/lfs",
        "extensions.worktreeConfig=true",
        "gitflow.branch.master=main",
    ],
)
def test_a_key_that_names_no_program_is_not(text: str) -> None:
    assert not setting(text)
