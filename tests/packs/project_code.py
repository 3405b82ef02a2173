"""The project in which the pack `project-code` is tried."""

FILES = {
    ".gitignore": "node_modules/\n.venv/\n__pycache__/\nout/\n",
    "pyproject.toml": '[project]\nname = "app"\n[project.scripts]\napp = "app.cli:main"\n',
    "package.json": '{"name": "app", "scripts": {"demo": "node scripts/show.mjs", "tidy": "rm -rf notes", '
    '"ship": "node scripts/ship.mjs"}}\n',
    "tsconfig.json": '{"compilerOptions": {"strict": true}}\n',
    "src/app/__init__.py": "",
    "src/app/__main__.py": "from app.cli import main\nmain()\n",
    "src/app/cli.py": "from app.core import value\n\ndef main() -> None:\n    print(value())\n",
    "src/app/core.py": "def value() -> int:\n    return 1\n",
    "src/app/other.py": "X = 1\n",
    "tool/__init__.py": "",
    "tool/__main__.py": "from tool import work\nwork.go()\n",
    "tool/work.py": "def go() -> None:\n    print(1)\n",
    "scripts/report.py": "import json\nimport helpers\nprint(json.dumps(helpers.lines()))\n",
    "scripts/helpers.py": "def lines() -> list[str]:\n    return []\n",
    "scripts/plugins.py": "import importlib, sys\nimportlib.import_module(sys.argv[1]).main()\n",
    "scripts/steps.py": "import subprocess\nfor name in open('steps.txt'):\n    subprocess.run(name.split())\n",
    "scripts/send.py": "import helpers\nimport urllib.request as r\nr.urlopen('https://example.com/x', data=b'x')\n",
    "scripts/wipe.py": "import helpers, os, shutil\nshutil.rmtree(os.path.expanduser('~'))\n",
    "scripts/deploy.py": "import helpers\nprint(helpers.lines())\n",
    "scripts/show.mjs": "import { one } from './lib/one.mjs';\nconsole.log(one(process.argv));\n",
    "scripts/lib/one.mjs": "export const one = (x) => globalThis.thing(x);\n",
    "scripts/ship.mjs": "import { one } from './lib/one.mjs';\n"
    "one(await fetch('https://example.com', { method: 'POST', body: 'x' }));\n",
    "scripts/bench.ts": "import { one } from './lib/two.js';\none();\n",
    "scripts/lib/two.ts": "export function one(): void { thing(); }\n",
    "scripts/run.sh": "#!/bin/bash\npython scripts/report.py\nnode scripts/show.mjs\n",
    "scripts/push.sh": "#!/bin/bash\npython scripts/report.py\nscp out.txt host:/tmp\n",
    "scripts/odd.sh": '#!/bin/bash\n. "$LIBRARY/x.sh"\n',
    "go.mod": "module example.com/m\n\ngo 1.22\n",
    "cmd/x/main.go": 'package main\n\nimport (\n\t"fmt"\n\n\t"example.com/m/internal/y"\n)\n\n'
    "func main() { fmt.Println(y.Y()) }\n",
    "internal/y/y.go": "package y\n\nfunc Y() int { return 1 }\n",
    "cmd/starts/main.go": 'package main\n\nimport "os/exec"\n\nfunc main() { _ = exec.Command("sh", "x.sh").Run() }\n',
    "x.sh": "echo x\n",
    "README.md": "# app\n",
}
SETUP = r"""
mkdir -p node_modules/.bin .venv/bin .venv/lib
printf '#!/usr/bin/env node\nrequire("../tsx")\n' > node_modules/.bin/tsx
touch .venv/pyvenv.cfg .venv/bin/activate
ln -s /usr/bin/python3 .venv/bin/python
printf '#!/usr/bin/env python3\nfrom app.cli import main\nmain()\n' > .venv/bin/app
chmod +x node_modules/.bin/tsx .venv/bin/app
"""
