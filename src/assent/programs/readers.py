"""The readers that a row may name: functions for what a table cannot say, each with its module in `effects`."""

from __future__ import annotations

_MODULES = {
    "code.awk": "awk",
    "shell.commands.readers.files": "copy move link remove remove_folder modes go_fmt probe dotfiles tar dd pandoc",
    "shell.commands.readers.find": "find fd",
    "shell.commands.readers.git": "git_push git_fetch git_commit git_checkout git_switch git_branch git_tag git_reset "
    "git_restore git_rm git_mv git_lfs git_each git_rev_list git_merge_base git_rev_parse git_merge git_pick git_stash",
    "code.inline": "node perl ruby php lua",
    "code.jq": "jq yq",
    "shell.commands.readers.system": "which go_env go_list kill ps",
    "code.python": "python",
    "shell.commands.readers.remote": "ssh scp rsync elsewhere compose gh_api gh_view",
    "code.sed": "sed",
    "code.sql": "sqlite",
    "shell.commands.readers.shells": "shell",
    "shell.commands.readers.web": "curl wget http netcat socat",
    "shell.commands.readers.wrappers": "xargs parallel env printenv sudo su joined flock script tmux busybox "
    "package rtk",
}
NAMES = {name: module for module, names in _MODULES.items() for name in names.split()}
