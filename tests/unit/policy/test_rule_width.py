"""Rules that say more than they show are not remembered, and the refusal says what to write instead."""

from __future__ import annotations

import pytest

from assent.contract.approval import Scope
from assent.policy.rule_width import refusal, unsavable
from tests.cases import decide

REFUSED = """
mcp__docs(read_only)
mcp__docs__search(q = x, not destructive)
bash
bash(*)
bash(:*)
bash(* test)
bash(*:*)
bash(python:*)
bash(python3 -c:*)
bash(python -m:*)
bash(python -u:*)
bash(python -m pip:*)
bash(python *)
bash(python)
bash(sh -)
bash(node:*)
bash(node -e:*)
bash(bash:*)
bash(bash -c:*)
bash(/bin/bash:*)
bash(perl -pe:*)
bash(sudo:*)
bash(sudo apt:*)
bash(env:*)
bash(env A=1:*)
bash(xargs:*)
bash(xargs rm:*)
bash(timeout 5:*)
bash(nohup bash:*)
bash(ssh:*)
bash(ssh host:*)
bash(docker:*)
bash(docker run:*)
bash(docker run alpine:*)
bash(docker exec web:*)
bash(kubectl exec pod:*)
bash(npx:*)
bash(npx -y:*)
bash(uv run:*)
bash(uv run python:*)
bash(make:*)
bash(git:*)
bash(git -c:*)
bash(git push:*)
bash(git config:*)
bash(git reset --hard:*)
bash(npm:*)
bash(npm exec:*)
bash(aws:*)
bash(aws s3:*)
bash(rm:*)
bash(rm -rf build:*)
bash(mv:*)
bash(cp:*)
bash(dd:*)
bash(chmod:*)
bash(curl:*)
bash(curl https://example.com:*)
bash(wget *)
bash(find:*)
bash(python -X dev:*)
bash(node -r ./x:*)
bash(ruby -I lib:*)
bash(xargs -I {}:*)
bash(env -u HOME:*)
bash(npx -p evil:*)
bash(npx bash:*)
bash(timeout -k 5:*)
bash(timeout 5 python:*)
bash(uv run --with x:*)
bash(poetry run:*)
bash(docker exec -u root:*)
bash(docker exec -it web:*)
bash(docker exec web bash:*)
bash(docker compose:*)
bash(docker compose exec web:*)
bash(docker compose run web:*)
bash(deno eval:*)
bash(deno run:*)
bash(bun x:*)
bash(bun -e:*)
bash(git * status)
bash(git * --force)
bash(npm * test)
bash(claude:*)
bash(claude -p:*)
bash(dig:*)
bash(set:*)
bash(sshpass -p:*)
bash(flock f:*)
bash(gh api repos:*)
bash(find . *)
bash(sed:*)
bash(awk:*)
bash(vim:*)
bash(eval:*)
bash(source:*)
write
write()
write(*)
write(**)
write(**/*)
write(**/src/*)
write(*.py)
write(/**)
write(/*)
write(~/**)
write(~)
write(/etc/**)
write(/home/me/**)
write(/home/*/x)
write(/usr/local/**)
write(src/../**)
write(?*/**)
write([a-z]*/**)
write(.*)
write(s*/**)
write(.git/**)
write(.github/workflows/*)
write(~/.config/**)
delete(./**)
path(./**)
read(**)
fetch
fetch(*)
fetch(domain:*)
fetch(domain:*.com)
fetch(domain:*.co.uk)
fetch(domain:*.github.io)
fetch(domain:*.amazonaws.com)
agent
danger(push)
mcp__*
mcp__*__get
x*
bash(zig:*)
bash(wine:*)
bash(/lib64/ld-linux-x86-64.so.2:*)
bash(busybox:*)
bash(adb shell:*)
bash(frobnicate:*)
bash(frobnicate --all:*)
bash(npx frobnicate run:*)
bash(pip install:*)
bash(pip install requests:*)
bash(npm install:*)
bash(npm i lodash:*)
bash(npm create vite:*)
bash(yarn add x:*)
bash(uv pip install x:*)
bash(uv tool run:*)
bash(gem install x:*)
bash(go install x:*)
bash(cargo install x:*)
bash(brew install:*)
bash(apt-get install x:*)
bash(git bisect run:*)
bash(gcloud compute ssh:*)
bash(rails runner:*)
bash(php artisan:*)
bash(php artisan tinker:*)
bash(python manage.py:*)
bash(python manage.py shell:*)
bash(pipx run:*)
bash(bun run:*)
bash(mkdir:*)
bash(touch:*)
bash(vault read:*)
bash(npm test
bash(сору:*)
write(a) ; bash(make deploy:*)
bash(find . ; make:*)
bash(curl -H token=abcdefghijkl)
"""
SAVED = """
bash(npm test)
bash(npm test:*)
bash(npm run test:*)
bash(npm run:*)
bash(python tools/build.py:*)
bash(python3 -m pytest:*)
bash(python x.py)
bash(node server.js:*)
bash(bash scripts/x.sh:*)
bash(npx prettier:*)
bash(flock f make test:*)
bash(uv run pytest:*)
bash(make test:*)
bash(git commit:*)
bash(git push origin:*)
bash(git status *)
bash(npm run test*)
bash(bun run test:*)
bash(bun test:*)
bash(deno test:*)
bash(docker compose up:*)
bash(docker compose exec web ls:*)
bash(docker exec -it web ls:*)
bash(python -u x.py:*)
bash(npx -y prettier:*)
bash(timeout 5 npm test:*)
bash(env A=1 npm test:*)
bash(docker ps:*)
bash(docker exec web ls:*)
bash(kubectl get:*)
bash(aws s3 ls:*)
bash(cargo test:*)
bash(pytest:*)
bash(./run.sh:*)
bash(frobnicate all:*)
bash(adb shell ls:*)
bash(pip install requests)
bash(npm install)
bash(npm ci:*)
bash(gh pr create:*)
bash(kubectl port-forward x:*)
bash(php artisan migrate:*)
bash(python manage.py migrate:*)
bash(cargo run:*)
bash(eslint:*)
bash(rm -rf build)
bash(curl https://example.com/x)
bash(sudo apt update)
write(src/**)
write(src/*.py)
write(./**)
write(README.md)
write(.github/workflows/ci.yml)
read(.github/**)
write(/srv/data/**)
write(/etc/hosts)
write(~/notes/**)
delete(build/**)
fetch(domain:example.com)
fetch(domain:*.example.com)
fetch(domain:me.github.io)
agent(reviewer)
mcp__github
mcp__github__get_*
weather
"""


@pytest.mark.parametrize("rule", [line for line in REFUSED.splitlines() if line])
def test_what_names_too_little_is_refused_with_a_reason(rule: str) -> None:
    assert refusal(rule)


@pytest.mark.parametrize("rule", [line for line in SAVED.splitlines() if line])
def test_what_names_its_reach_may_be_saved(rule: str) -> None:
    assert refusal(rule) == ""


@pytest.mark.parametrize(
    ("rule", "hint"),
    [
        ("bash(python:*)", "name the script, as in `bash(python tools/build:*)`"),
        ("bash(git:*)", "`bash(git commit:*)`"),
        ("bash(rm:*)", "`delete(build/**)`"),
        ("bash(curl:*)", "`fetch(domain:example.com)`"),
        ("bash(npx:*)", "`bash(npx prettier:*)`"),
        ("write(**/*.py)", "`write(src/*.py)`"),
    ],
)
def test_a_refusal_names_a_narrower_form(rule: str, hint: str) -> None:
    assert hint in refusal(rule)


@pytest.mark.parametrize("rule", ["bash(rm -rf build)", "bash(git push --force origin x)", "delete(build/**)"])
def test_what_destroys_is_repeated_for_a_session_and_not_for_good(rule: str) -> None:
    assert refusal(rule, Scope.SESSION) == refusal(rule, Scope.QUARTER) == ""
    assert refusal(rule, Scope.PROJECT)
    assert refusal(rule, Scope.EVERYWHERE)


@pytest.mark.parametrize("rule", ["bash(make -f x.mk all)", "bash(kubectl apply -f x.yaml)", "bash(npm test)"])
def test_what_builds_and_tests_may_be_saved_for_good(rule: str) -> None:
    assert refusal(rule, Scope.PROJECT) == refusal(rule, Scope.EVERYWHERE) == ""


def test_the_identical_call_is_repeated_for_good_only_where_it_is_not_dangerous() -> None:
    plain, dangerous = decide("bash", "make $X"), decide("bash", "rm -r $X")
    assert unsavable((), Scope.PROJECT, plain) == ""
    assert unsavable((), Scope.SESSION, dangerous) == ""
    assert unsavable((), Scope.PROJECT, dangerous).startswith("a dangerous call can be allowed for a session")
    assert unsavable(("bash(npm test)", "bash(rm:*)"), Scope.QUARTER, plain).startswith("`bash(rm:*)` may not be saved")


@pytest.mark.parametrize("rule", ["bash(./run.sh:*)", "bash(python tools/x.py:*)", "bash(tools/x:*)"])
def test_a_script_of_one_project_is_not_allowed_in_all(rule: str) -> None:
    assert refusal(rule, Scope.PROJECT) == ""
    assert refusal(rule, Scope.EVERYWHERE)
    assert refusal("bash(/opt/tools/x:*)", Scope.EVERYWHERE) == ""


def test_a_rule_that_nobody_can_read_is_refused() -> None:
    assert refusal("bash(echo \u202e)") == ("it contains invisible or look-alike characters; type it again")
    assert refusal(f"bash(echo {'x' * 2000})") == "it is 2011 characters long; too long to read before saving it"
