"""Events, replies and rendered output in the form of the golden files: every field that is not empty."""

from __future__ import annotations

import json

from assent.agents.adapter import Event, Rendered, Response
from assent.contract import Outcome, Reply

Form = dict[str, object]


def event_form(event: Event) -> Form:
    form: Form = {name: getattr(event, name) for name in event.__slots__}
    form["kind"] = event.kind.value
    form["call"] = None if event.call is None else filled({name: getattr(event.call, name) for name in CALL})
    return filled(form)


CALL = ("tool", "input", "cwd", "roots", "home", "session", "runtime", "description", "shell", "agent")


def filled(form: Form) -> Form:
    kept = {key: value for key, value in form.items() if value is not None and value != "" and value != ()}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in kept.items()}


def reply_of(form: Form) -> Reply:
    given = {key: value for key, value in form.items() if key != "outcome"}
    return Reply(Outcome[str(form["outcome"]).upper()], **given)  # type: ignore[arg-type]


def rendered_form(rendered: Rendered) -> Form:
    return {"status": rendered.status, "stdout": output(rendered.stdout), "stderr": rendered.stderr}


def response_form(response: Response) -> Form:
    return {"status": response.status, "type": response.type, "body": output(response.body)}


def output(text: str) -> object:
    """An object if the text is exactly one line of JSON, else the text."""
    if text.startswith("{"):
        assert text.endswith("}\n"), text
        assert text.count("\n") == 1, text
        return json.loads(text)
    return text
