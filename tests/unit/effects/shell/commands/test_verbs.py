"""What the words of programs say that they do to things which others share."""

from __future__ import annotations

import pytest

from tests.unit.effects.shell.commands.commands import does


def destroys(command: str) -> bool:
    return any(line.startswith("DESTROY") for line in does(command))


@pytest.mark.parametrize(
    "command",
    [
        "acme delete user 5",
        "acme user delete 5",
        "acme --yes delete user",
        "acme -e prod wipe",
        "acme deleteUser 5",
        "acme users:delete 5",
        "acme reset database",
        "acme --delete-all",
        "gh run delete 1",
        "heroku config:unset X",
        "aws dynamodb delete-item --table-name t",
        "rails db:drop",
        "php artisan migrate:fresh",
        "knex migrate:rollback --all",
        "python manage.py flush",
        "npm owner rm bob x",
        "pnpm prisma migrate reset",
        "python -m alembic downgrade base",
    ],
)
def test_a_verb_among_the_words_destroys(command: str) -> None:
    assert destroys(command)


@pytest.mark.parametrize(
    "command",
    [
        "acme delete ./build",
        "acme delete a.txt",
        "acme reset",
        "acme list deleted",
        "acme help delete",
        "acme new delete-dialog",
        "acme -k delete",
        "acme delete user 5 --dry-run",
        "acme --delete-comments",
        "docker rm web",
        "make clean",
        "rails db:migrate",
        "gh pr comment 5 -b delete",
        "gh pr edit 5 --remove-label bug",
        "git branch -d x",
    ],
)
def test_a_word_that_is_a_file_a_name_or_a_rehearsal_does_not(command: str) -> None:
    assert not destroys(command)


@pytest.mark.parametrize(
    ("command", "danger"),
    [
        ("fly deploy", "deploy"),
        ("vercel", "deploy"),
        ("acme deploy", "deploy"),
        ("modal deploy app.py", "deploy"),
        ("aws iam attach-user-policy --user-name x", "deploy"),
        ("docker push o/x", "publish"),
        ("docker buildx build --push .", "publish"),
        ("bun publish", "publish"),
        ("python3 -m twine upload dist/a", "publish"),
        ("semantic-release", "publish"),
    ],
)
def test_deploying_and_publishing_are_marked(command: str, danger: str) -> None:
    assert any(f"!{danger}" in line for line in does(command))


@pytest.mark.parametrize(
    "command",
    [
        "fly deploy --dry-run",
        "npm publish --dry-run",
        "./gradlew publishToMavenLocal",
        "gh release download v1",
        "fly logs",
    ],
)
def test_a_rehearsal_deploys_nothing(command: str) -> None:
    assert not any("!deploy" in line or "!publish" in line for line in does(command))


def test_a_long_row_of_package_managers_is_not_followed() -> None:
    assert does("pnpm " * 5000 + "x")
