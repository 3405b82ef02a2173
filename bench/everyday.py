"""Commands that coding agents run every day. `<n>` becomes a different number in every round of new commands."""

from __future__ import annotations

COMMANDS = (
    "git status && ls -la src<n>",
    "rg -n 'def main<n>' src tests | head -40",
    "sed -n '1,120p' src/app<n>/server.py",
    "grep -rn \"TODO<n>\" --include='*.py' src | wc -l",
    "git diff HEAD~1 -- src/app<n>.py",
    "git log --oneline -20<n>",
    "cat package<n>.json | jq '.scripts'",
    "find . -name '*<n>.ts' -not -path './node_modules/*' | sort | head -50",
    "ls -la src/components<n> && wc -l src/components<n>/*.tsx",
    "cd packages/core<n> && npm test -- --run 2>&1 | tail -30",
    "go test ./pkg<n>/... 2>&1 | grep -v 'no test files' | head -20",
    "python3 -m pytest -q tests/unit/test_<n>.py",
    "npm run lint<n> && npm run build",
    "gh pr view 12<n> --json title,body,state",
    "mkdir -p build<n> && cp -r assets build<n>/",
    "rm -rf node_modules/.cache<n>",
    "git add -A && git commit -m 'fix: handle empty input <n>'",
    'for f in src<n>/*.py; do echo "== $f"; head -5 "$f"; done',
    "curl -s https://api.example.com/v1/items/<n> | jq '.items[0]'",
    "docker compose ps && docker compose logs --tail=20 web<n>",
    "kubectl get pods -n prod<n> -o wide",
    'echo "done <n>: $(date -u +%H:%M)" >> notes.txt',
    "test -f .env<n> && echo yes || echo no",
    "awk -F: '{print $1}' data<n>.csv | sort | uniq -c | sort -rn | head",
)


TIMES = 4  # in one round


def new(number: int) -> list[str]:
    """Every command, several times, with numbers not used before."""
    return [command.replace("<n>", f"{number + 100}{each}") for each in range(TIMES) for command in COMMANDS]


def again(number: int) -> list[str]:
    """The same commands in every round."""
    return [command.replace("<n>", "") for command in COMMANDS] * TIMES
