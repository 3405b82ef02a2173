"""All endpoints, and their OpenAPI document."""

from __future__ import annotations

import re
from typing import Any

from assent import __version__
from assent.server.access import Role
from assent.server.api import (
    audit,
    checks,
    copies,
    events,
    hooks,
    metrics,
    policies,
    questions,
    sessions,
    simulate,
)
from assent.server.api.endpoint import ANY, TEXT, ApiRequest, Endpoint, record

ERROR = record("error", error=record("code message", code=TEXT, message=TEXT))
SECURITY: dict[Role, list[dict[str, list[str]]]] = {
    Role.NOBODY: [],
    Role.CALLER: [{"caller": []}, {"cookie": [], "key": []}],
    Role.PERSON: [{"cookie": [], "key": []}],
}


async def document(asked: ApiRequest) -> object:
    return describe()


ENDPOINTS: tuple[Endpoint, ...] = (
    *checks.ENDPOINTS,
    *hooks.ENDPOINTS,
    *questions.ENDPOINTS,
    *events.ENDPOINTS,
    *policies.ENDPOINTS,
    *simulate.ENDPOINTS,
    *audit.ENDPOINTS,
    *copies.ENDPOINTS,
    *sessions.ENDPOINTS,
    *metrics.ENDPOINTS,
    Endpoint("GET", "/openapi.json", document, needs=Role.NOBODY, summary="this document", gives={200: ANY}),
)


def describe() -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for each in ENDPOINTS:
        paths.setdefault(each.path, {})[each.method.lower()] = _operation(each)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Assent",
            "version": __version__,
            "description": "Callers ask, persons answer. On the Unix socket callers need no token.",
        },
        "servers": [{"url": "http://127.0.0.1:8765"}],
        "paths": paths,
        "components": {
            "schemas": {"Error": ERROR},
            "securitySchemes": {
                "caller": {"type": "http", "scheme": "bearer", "description": "caller.token in Assent's folder"},
                "scraper": {"type": "http", "scheme": "bearer", "description": "metrics.token in Assent's folder"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": "assent_session"},
                "key": {"type": "apiKey", "in": "header", "name": "Assent-Key"},
                "signature": {"type": "apiKey", "in": "header", "name": "Assent-Signature"},
            },
        },
    }


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    found: dict[str, Any] = {
        "operationId": f"{endpoint.method.lower()}{re.sub('[^a-z]+', '_', endpoint.path)}".strip("_"),
        "summary": endpoint.summary,
        "security": [
            *SECURITY[endpoint.needs],
            *([{"scraper": []}] if endpoint.scraped else []),
            *([{"signature": []}] if endpoint.signed else []),
        ],
        "parameters": [
            *(
                {"name": name, "in": "path", "required": True, "schema": TEXT}
                for name in re.findall(r"\{(\w+)\}", endpoint.path)
            ),
            *(
                {"name": name, "in": "query", "description": words, "schema": TEXT}
                for name, words in endpoint.query.items()
            ),
        ],
        "responses": {
            **{
                str(status): {"description": "done", "content": {endpoint.kind: {"schema": schema}}}
                for status, schema in endpoint.gives.items()
            },
            "default": {
                "description": "refused",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
            },
        },
    }
    if endpoint.body is not None:
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": endpoint.body}}}
    return found
