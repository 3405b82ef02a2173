"""The packs that come with Assent, each with its purpose in one sentence."""

from __future__ import annotations

# Sets of allow rules, in `policy/packs/`.
RULES = {
    "dev-tasks": "run tests, linters, formatters, type checkers and builds",
    "git-local": "use git where that changes this repository only: add, commit, branch, stash and the like",
}
# Proved by facts for each call, in `facts/packs/`.
PROVED = {
    "project-code": "run the project's own code as it was when the session began: scripts, modules, `go run`, tasks",
    "branches": "push to a branch of its own, without force, of a remote that the repository has",
    "installs": "install what the project's own lock file or requirements file names, from the public registries",
    "rebuild": "delete what git ignores and a build makes again: node_modules, dist, __pycache__, caches",
    "containers": "build images and run services from the project's own Docker files, without access to this machine",
    "plans": "make plans that change nothing, and migrate a local database",
}
PACKS = {**RULES, **PROVED}
# Those that `assent install` turns on if a person agrees.
OFFERED = ("dev-tasks", "git-local", "rebuild", "branches", "installs")
