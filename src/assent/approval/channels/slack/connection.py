"""The connection to Slack, by slack-sdk: the Web API, and Socket Mode kept open.

The only module that needs slack-sdk."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient

from assent.approval.channels.remote import RateLimited, Refused, retry_after
from assent.contract import StoreError
from assent.contract.display import one_line

TIMEOUT = 8  # seconds for one request
CHECK_EVERY = 0.5  # seconds between checks of the socket
STUCK = 40.0  # seconds after which a lost socket is replaced by a new one
FIRST, SLOWEST = 1.0, 60.0  # seconds between tries to sign in
UNSAID = 30.0  # seconds to wait if Slack does not say how long
# Errors that a retry does not fix.
FINAL = frozenset(
    """invalid_auth not_authed account_inactive token_revoked token_expired no_permission missing_scope
    org_login_required not_allowed_token_type channel_not_found not_in_channel is_archived restricted_action
    msg_too_long msg_blocks_too_long invalid_blocks invalid_blocks_format invalid_arguments message_not_found
    cant_update_message edit_window_closed user_not_found user_not_in_channel expired_trigger_id invalid_trigger_id
    exchanged_trigger_id team_access_not_granted access_denied ekm_access_denied no_text""".split()
)
ADVICE = {
    "missing_scope": "give the app the scopes of docs/slack.md and install it again",
    "not_in_channel": "invite the app to the channel with /invite",
    "channel_not_found": "check `slack.channel`, and invite the app there",
    "not_allowed_token_type": "the bot token begins with xoxb-, the app token with xapp-",
}

SILENT = logging.getLogger("assent.slack")
SILENT.addHandler(logging.NullHandler())
SILENT.propagate = False
SILENT.setLevel(logging.CRITICAL)

Take = Callable[[Mapping[str, Any]], Awaitable[dict[str, object]]]


class SlackApi:
    def __init__(self, token: str, base: str) -> None:
        self.session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TIMEOUT))
        self.web = AsyncWebClient(
            token, base_url=base, timeout=TIMEOUT, session=self.session, logger=SILENT, retry_handlers=[]
        )

    async def call(self, method: str, **fields: Any) -> dict[str, Any]:
        """Raises RateLimited, Refused, or ConnectionError if Slack is down."""
        try:
            found = (await self.web.api_call(method, json=fields)).data
        except Exception as error:
            raise _translated(method, error) from None
        return dict(found) if isinstance(found, dict) else {}

    async def snippet(self, channel: str, thread: str, name: str, text: str) -> None:
        """A file in the thread of a message."""
        kind = "diff" if name.endswith(".diff") else "text"
        try:
            await self.web.files_upload_v2(
                channel=channel, thread_ts=thread, filename=name, title=name, content=text, snippet_type=kind
            )
        except Exception as error:
            raise _translated("files.upload", error) from None


class _Socket(SocketModeClient):
    """Socket Mode, with the last reason why it could not be opened."""

    problem = ""

    async def issue_new_wss_url(self) -> str:
        try:
            found = await super().issue_new_wss_url()
        except Exception as error:
            self.problem = str(_translated("apps.connections.open", error))
            raise
        self.problem = ""
        return found


class SlackConnection:
    """Signs in, and keeps Socket Mode open if there is an app token. `report` takes its problems, `up` is called when
    it is connected."""

    def __init__(
        self,
        api: SlackApi,
        app_token: str,
        take: Take,
        *,
        team: str,
        report: Callable[[str], None],
        up: Callable[[], None],
    ) -> None:
        self._api = api
        self._app_token = app_token
        self._take = take
        self._report: Callable[[str], None] = lambda words: report(one_line(words, 300))
        self._up = up
        self._wanted = team
        self.team = ""
        self.bot = ""
        self.is_up = False
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        self.is_up = False
        self._task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await self._task
        with suppress(Exception):
            await self._api.session.close()

    async def _run(self) -> None:
        try:
            signed_in = await self._sign_in()
            if signed_in and self._app_token:
                await self._listen()
            elif signed_in:  # without Socket Mode a valid token is enough
                self._connected()
        except Exception as error:  # the other channels go on
            self._report(f"the connection failed: {type(error).__name__}: {error}")

    async def _sign_in(self) -> bool:
        pause = FIRST
        while True:
            try:
                found = await self._api.call("auth.test")
                break
            except Refused as refused:
                self._report(f"OFF: {refused}")
                return False
            except Exception as error:
                self._report(str(error))
                await asyncio.sleep(error.seconds if isinstance(error, RateLimited) else pause)
                pause = min(pause * 2, SLOWEST)
        self.team, self.bot = str(found.get("team_id", "")), str(found.get("user", ""))
        if not self.team or self._wanted not in ("", self.team):
            self._report(f"OFF: the token is of workspace `{self.team}`, and `slack.team` names `{self._wanted}`")
            self.team = ""
            return False
        return True

    def _connected(self) -> None:
        self.is_up = True
        self._report("")
        self._up()

    async def _listen(self) -> None:
        while True:
            socket = _Socket(self._app_token, logger=SILENT, web_client=self._api.web)
            socket.socket_mode_request_listeners.append(self._receive)
            connecting = asyncio.ensure_future(socket.connect())  # type: ignore[no-untyped-call]  # of the SDK
            try:
                await self._watch(socket)
            finally:
                connecting.cancel()
                with suppress(Exception):
                    await asyncio.wait_for(socket.close(), 2)  # type: ignore[no-untyped-call]  # as above

    async def _watch(self, socket: _Socket) -> None:
        """Report the state of a socket, until it has been down for too long."""
        down = 0.0
        while down < STUCK:
            up = await socket.is_connected()
            if up and not self.is_up:
                self._connected()
            elif not up and (self.is_up or socket.problem):
                self.is_up = False
                self._report(socket.problem or "the connection is lost; reconnecting")
            down = 0.0 if up else down + CHECK_EVERY
            await asyncio.sleep(CHECK_EVERY)

    async def _receive(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        body: dict[str, object] = {}
        try:
            if request.type == "interactive":
                body = await self._take(request.payload)
        finally:  # unacknowledged requests are sent again
            answer = SocketModeResponse(envelope_id=request.envelope_id, payload=body or None)
            with suppress(Exception):
                await client.send_socket_mode_response(answer)


def _translated(method: str, error: Exception) -> Exception:
    """An error of the SDK as one of ours. The text is from Slack; it has no tokens."""
    if isinstance(error, SlackApiError):
        response: Any = error.response
        status = getattr(response, "status_code", None) or getattr(response, "status", 0)
        headers = getattr(response, "headers", None) or {}
        data = getattr(response, "data", None)
        code = str(data.get("error", "")) if isinstance(data, dict) else ""
        if status == 429 or code in ("ratelimited", "rate_limited"):
            return RateLimited(retry_after(headers.get("Retry-After"), least=1.0, default=UNSAID))
        if code in FINAL:
            return Refused(f"Slack refuses {method}: {code}; {ADVICE.get(code, 'see docs/slack.md')}", code)
        return ConnectionError(f"Slack fails at {method}: {one_line(code, 60) or f'status {status}'}")
    if isinstance(error, StoreError):
        return error
    if isinstance(error, SlackClientError):
        return ConnectionError(f"Slack fails at {method}")
    return ConnectionError(f"Slack cannot be reached for {method}: {type(error).__name__}")
