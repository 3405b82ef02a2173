"""Infrastructure and agents' tools in projects on a real disk: ordinary settings ask nothing, code of the tree asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.facts.projects import answer, configured, lay

ORDINARY = {
    "main.tf": 'resource "terraform_data" "x" {}\n',
    ".terraform.lock.hcl": "",
    "terraform.tfstate": "{}",
    "cdk.json": '{"app": "npx ts-node bin/app.ts", "watch": {"include": ["**"]}, "context": {"a:b": true}}',
    "Pulumi.yaml": "name: x\nruntime:\n  name: nodejs\ndescription: y\n",
    "Pulumi.dev.yaml": "config:\n  aws:region: eu-west-1\nencryptionsalt: v1:x\n",
    "packer-template.json": "{}",
    "conftest.py": "import os\n",
    "conftest.toml": 'policy = "rules"\n',
    "agent-browser.json": '{"headed": true, "session": "x"}',
    ".actrc": "-P ubuntu-latest=catthehacker/ubuntu:act-latest\n--container-architecture linux/amd64\n",
    ".goreleaser.yaml": "version: 2\n",
    ".gitleaks.toml": "",
    ".sops.yaml": "creation_rules: []\n",
    "trivy.yaml": "severity: HIGH\n",
    "a.pp": "notice('x')\n",
}


@pytest.mark.parametrize(
    "command",
    [
        "terraform version",
        "terraform state list",
        "terraform output",
        "terraform show",
        "terraform workspace show",
        "terraform fmt -check -recursive",
        "cdk --version",
        "cdk doctor",
        "cdk context",
        "pulumi stack ls",
        "pulumi stack output url",
        "pulumi config --json",
        "packer version",
        "packer fmt -check .",
        "conftest parse a.yaml",
        "agent-browser snapshot -i",
        "act -l",
        "goreleaser check",
        "gitleaks version",
        "sops filestatus s.yaml",
        "trivy --version",
        "puppet parser validate a.pp",
        "ansible --version",
        "vagrant global-status",
    ],
)
def test_an_ordinary_project_asks_nothing(project: Path, command: str) -> None:
    lay(project, ORDINARY)
    assert answer(project, command, "default") == "allow"


PROVIDER = ".terraform/providers/registry.terraform.io/x/y/1.0.0/linux_amd64/terraform-provider-y"
BACKEND = {
    ".terraform/terraform.tfstate": '{"backend": {"type": "http", "config": {"address": "http://evil.example"}}}'
}


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("terraform show", {PROVIDER: ""}),
        ("terraform state show a.b", {PROVIDER: ""}),
        ("terraform show q.tfplan", {"terraform-provisioner-evil": ""}),
        ("terraform show q.tfplan", {"terraform.d/plugins/linux_amd64/terraform-provisioner-evil": ""}),
        ("terraform show", BACKEND),
        ("terraform state list", BACKEND),
        ("terraform output", BACKEND),
        ("terraform providers", BACKEND),
        ("terraform workspace list", BACKEND),
        ("terraform -chdir=infra output", {"infra/.terraform/terraform.tfstate": "{}"}),
        ("tofu state list", {}),
        ("tofu output", {}),
        ("tofu workspace list", {}),
        ("tflint --version", {".tflint.hcl": 'plugin "x" { enabled = true }\n'}),
        ("tflint --version", {".tflint.d/plugins/tflint-ruleset-aws": ""}),
        ("checkov --list", {".checkov.yaml": "external-checks-dir: [x]\n"}),
        ("cdk version", {"cdk.json": '{"plugin": ["./p.js"]}'}),
        ("cdk docs", {"cdk.json": '{"browser": "./evil %u"}'}),
        ("cdk context", {"cdk.json": '{"app": "x", "plugin": "p"}'}),
        ("pulumi whoami", {"Pulumi.yaml": "name: x\nbackend:\n  url: s3://b?endpoint=evil.example\n"}),
        ("pulumi stack output", {"Pulumi.yaml": "name: x\nplugins:\n  providers: []\n"}),
        ("pulumi config", {"Pulumi.dev.yaml": "secretsprovider: hashivault://x\n"}),
        ("pulumi config", {"Pulumi.dev.yaml": "environment:\n  - x\n"}),
        ("packer version", {"packer-plugin-evil": ""}),
        ("packer -help", {"github.com/x/y/packer-plugin-y_v1_x5.0_linux_amd64": ""}),
        ("vagrant global-status", {"Vagrantfile": "File.write('x', '')\n"}),
        ("vagrant --help", {}),
        ("serverless --version", {}),
        ("knife --version", {}),
        ("ansible-lint -L", {}),
        ("molecule --version", {"ansible.cfg": ""}),
        ("ansible-test env", {".gitmodules": ""}),
        ("sam logs -n F", {"samconfig.toml": "version = 0.1\n"}),
        ("trivy version", {"trivy.yaml": "generate-default-config: true\n"}),
        ("conftest parse a.yaml", {"conftest.toml": 'parser = "jsonnet"\n'}),
        ("conftest parse a.yaml", {"conftest.env": "parser=jsonnet\n"}),
        ("agent-browser snapshot", {"agent-browser.json": '{"executablePath": "./evil"}'}),
        ("agent-browser get url", {"agent-browser.json": '{"extensions": ["./x"]}'}),
        ("act -l", {".actrc": "-P ubuntu-latest=x\n--env-file /home/dev/.netrc\n"}),
        ("act -l", {".actrc": "-pW./x\n"}),
    ],
)
def test_code_and_addresses_of_the_tree_ask(project: Path, command: str, files: dict[str, str]) -> None:
    lay(project, files)
    for mode in ("default", "auto"):
        assert answer(project, command, mode) == "ask"


@pytest.mark.parametrize("command", ["ansible-test env", "goreleaser check"])
def test_git_that_runs_a_program_asks(project: Path, command: str) -> None:
    assert answer(project, command, "default") == "allow"
    configured(project, "core.fsmonitor=./evil.sh")
    assert answer(project, command, "default") == "ask"
