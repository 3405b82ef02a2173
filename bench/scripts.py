"""Scripts of about 200 lines, as projects have them. `<n>` becomes a different number in every round of new ones."""

from __future__ import annotations

from pathlib import Path

PARTS = 12  # functions in each script

BASH = """\
#!/usr/bin/env bash
set -euo pipefail

ROOT="$(cd "$(dirname "$0")" && pwd)"
OUT="$ROOT/build<n>"
LOG="$OUT/release.log"
"""
BASH_PART = """
step_<part>() {
  local name="$1"
  echo "step <part>: $name" | tee -a "$LOG"
  mkdir -p "$OUT/part<part>"
  for file in src/part<part>/*.py; do
    if [ -f "$file" ]; then
      grep -n "TODO" "$file" | head -5 >> "$OUT/part<part>/todo.txt" || true
      wc -l "$file" | awk '{print $1}'
    fi
  done
  case "$name" in
    fast) sort -u "$OUT/part<part>/todo.txt" ;;
    *) cat "$OUT/part<part>/todo.txt" ;;
  esac
}
"""
BASH_CALL = 'step_<part> "${1:-fast}"'

PYTHON = """\
import json
import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path("reports<n>")
"""
PYTHON_PART = '''

def part_<part>(rows, limit=20):
    """Counts the rows of part <part>."""
    found = Counter()
    for row in rows:
        name = row.get("name", "").strip().lower()
        if not name or re.match(r"^#", name):
            continue
        found[name] += int(row.get("count", 1))
    top = [(name, count) for name, count in found.most_common(limit) if count > <part>]
    total = sum(count for _, count in top)
    if total == 0:
        return {"part": <part>, "top": [], "share": 0.0}
    return {"part": <part>, "top": top, "share": round(top[0][1] / total, 3)}
'''
PYTHON_CALL = 'print(part_<part>(json.loads((ROOT / "rows.json").read_text())))'

JAVASCRIPT = """\
"use strict";
const fs = require("fs");
const path = require("path");

const ROOT = path.join(__dirname, "reports<n>");
"""
JAVASCRIPT_PART = """
function part<part>(rows, limit = 20) {
  const found = new Map();
  for (const row of rows) {
    const name = (row.name || "").trim().toLowerCase();
    if (!name || /^#/.test(name)) continue;
    found.set(name, (found.get(name) || 0) + Number(row.count || 1));
  }
  const top = [...found.entries()].sort((a, b) => b[1] - a[1]).slice(0, limit);
  const total = top.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) {
    return { part: <part>, top: [], share: 0 };
  }
  return { part: <part>, top, share: Math.round((top[0][1] / total) * 1000) / 1000 };
}
"""
JAVASCRIPT_CALL = 'console.log(part<part>(JSON.parse(fs.readFileSync(path.join(ROOT, "rows.json"), "utf8"))));'

SCRIPTS = {
    "bash": ("bash", "release.sh", BASH, BASH_PART, BASH_CALL),
    "Python": ("python3", "summary.py", PYTHON, PYTHON_PART, PYTHON_CALL),
    "JavaScript": ("node", "summary.js", JAVASCRIPT, JAVASCRIPT_PART, JAVASCRIPT_CALL),
}


def text(language: str, number: int) -> str:
    _, _, start, part, call = SCRIPTS[language]
    parts = [part.replace("<part>", str(each)) for each in range(PARTS)]
    calls = "\n".join(call.replace("<part>", str(each)) for each in range(PARTS))
    return f"{start}{''.join(parts)}\n\n{calls}\n".replace("<n>", str(number))


def write(root: Path, language: str, number: int) -> str:
    """Write a script with that number into a project; the command that runs it."""
    program, name, *_ = SCRIPTS[language]
    name = f"new{number + 100}-{name}"
    (root / name).write_text(text(language, number))
    return f"{program} {name}"
