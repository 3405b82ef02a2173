"""Assent's plugin for opencode, as text. opencode loads every file in its plugin folders, so a file of our own is all.

The plugin makes opencode ask about every call, answers for those that Assent allowed, and throws for those it denied or
could not decide on."""

from __future__ import annotations

import json
import re

from assent.agents.settings import INSPECT, Hole, WholeFile, jsonc
from assent.agents.settings.entry import HookEntry
from assent.agents.settings.hooks import Wired

COMMAND = re.compile(r"^const COMMAND = (\[.*\])$", re.MULTILINE)

PLUGIN = """\
// Assent's plugin for opencode: written by `assent install opencode`, removed by `assent uninstall opencode`.
// A call runs when `assent hook opencode` answers that it may; whatever goes wrong is a denial.
import { spawn } from "node:child_process"

const COMMAND = @COMMAND@
const TIMEOUT = @TIMEOUT@ // milliseconds
const ANSWERS = ["allow", "ask", "deny"]
const ATTENDED = process.argv[2] === "run" ? false : undefined // `run` rejects what it would ask

function hook(payload) {
  return new Promise((resolve) => {
    const failed = (why) => resolve({ decision: "deny", message: `Assent could not decide: ${why}`, failed: true })
    let child
    try {
      child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "pipe", "pipe"] })
    } catch (error) {
      return failed(String(error))
    }
    let out = ""
    let err = ""
    const timer = setTimeout(() => {
      failed("no answer in time")
      child.kill("SIGKILL")
    }, TIMEOUT)
    child.on("error", (error) => {
      clearTimeout(timer)
      failed(String(error))
    })
    child.on("close", (code) => {
      clearTimeout(timer)
      if (code !== 0) return failed(err.trim() || `the hook ended with ${code}`)
      try {
        const answer = JSON.parse(out)
        return ANSWERS.includes(answer.decision) ? resolve(answer) : failed("an answer that is none")
      } catch {
        return failed("an answer that is not JSON")
      }
    })
    child.stdin.on("error", () => {})
    child.stdout.setEncoding("utf8").on("data", (text) => (out += text))
    child.stderr.setEncoding("utf8").on("data", (text) => (err += text))
    child.stdin.end(JSON.stringify(payload))
  })
}

// Whatever the settings allow by themselves is asked about, so that we can answer; what they deny stays denied.
function asking(permission) {
  if (permission === "deny") return "deny"
  if (permission === null || typeof permission !== "object") return "ask"
  return Object.fromEntries(Object.entries(permission).map(([key, value]) => [key, asking(value)]))
}

// What runs is what was allowed: a plugin after this one that changes the arguments throws, which is a denial.
function fixed(value) {
  if (value !== null && typeof value === "object" && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(fixed)
  }
  return value
}

export const Assent = async ({ client, directory, serverUrl }) => {
  const decided = new Map()
  const agents = new Map() // session → the agent that works in it
  const parents = new Map() // session of a sub-agent → the session that started it

  async function servers() {
    try {
      return Object.keys((await client.mcp.status()).data ?? {}).map((name) => name.replace(/[^a-zA-Z0-9_-]/g, "_"))
    } catch {
      return []
    }
  }

  function show(message) {
    const body = { title: "Assent asks", message, variant: "warning", duration: 60000 }
    Promise.resolve(client.tui?.showToast?.({ body })).catch(() => {})
  }

  async function reply(id, body) {
    const raw = client._client ?? client.client
    if (raw?.post) {
      const done = await raw.post({
        url: `/permission/${encodeURIComponent(id)}/reply`,
        body,
        headers: { "Content-Type": "application/json" },
      })
      if (!done?.error) return
    }
    await fetch(new URL(`/permission/${encodeURIComponent(id)}/reply`, serverUrl), {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    })
  }

  void hook({ event: "plugin.loaded", directory })

  return {
    config: async (config) => {
      const given = config.permission
      const rules = given !== null && typeof given === "object" ? asking(given) : {}
      config.permission = given === "deny" ? "deny" : { "*": "ask", ...rules }
      for (const agent of Object.values(config.agent ?? {})) {
        if (agent?.permission) agent.permission = asking(agent.permission)
      }
    },

    "chat.message": async (input, output) => {
      const planned = agents.get(parents.get(input.sessionID)) === "plan" // a sub-agent may no more than its parent
      agents.set(input.sessionID, planned ? "plan" : (output?.message?.agent ?? input.agent))
    },

    "tool.execute.before": async (input, output) => {
      const payload = {
        event: "tool.execute.before",
        tool: input.tool,
        sessionID: input.sessionID,
        callID: input.callID,
        args: output.args ?? {},
        directory,
        agent: agents.get(input.sessionID),
        servers: await servers(),
        attended: ATTENDED,
      }
      const args = payload.args
      const before = JSON.stringify(args)
      const answer = await hook(payload)
      if (answer.decision !== "allow" && answer.decision !== "ask") throw new Error(answer.message || answer.reason)
      if (JSON.stringify(args) !== before) throw new Error("the arguments changed while Assent decided")
      const contained = answer.decision === "allow" && answer.args !== undefined
      if (contained) Object.defineProperty(args, "command", { value: answer.args.command, enumerable: true })
      output.args = fixed(args)
      Object.defineProperty(output, "args", { writable: false, configurable: false })
      if (decided.size > 1000) decided.clear()
      const sent = { ...payload, args: JSON.parse(before) }
      decided.set(input.callID, { decision: answer.decision, payload: sent, contained })
      if (answer.decision === "ask") show(answer.reason) // its dialog has no place for a reason
    },

    "tool.execute.after": async (input, output) => {
      const known = decided.get(input.callID)
      decided.delete(input.callID)
      if (known?.decision !== "ask" && !known?.contained) return
      const answer = await hook({ ...known.payload, event: "tool.execute.after" })
      if (answer.context && typeof output?.output === "string") output.output += `\n\n${answer.context}`
    },

    event: async ({ event }) => {
      if (event.type === "session.created" && event.properties.info?.parentID) {
        parents.set(event.properties.info.id, event.properties.info.parentID)
      }
      if (event.type !== "permission.asked") return
      const asked = event.properties
      const known = decided.get(asked.tool?.callID)
      if (!known || asked.permission === "doom_loop") return
      if (known.decision === "allow") return reply(asked.id, { reply: "once" })
      const answer = await hook({ ...known.payload, event: "permission.asked" })
      if (answer.decision === "allow") await reply(asked.id, { reply: "once" })
      if (answer.decision === "deny") {
        const message = answer.message || "Assent does not let this call run"
        await reply(asked.id, answer.stop ? { reply: "reject" } : { reply: "reject", message })
      }
    },
  }
}
"""


class OpenCodeSettings(WholeFile):
    mark = "// Assent's plugin for opencode:"

    def content(self, entry: HookEntry) -> str:
        text = PLUGIN.replace("@COMMAND@", json.dumps(list(entry.words)))
        return text.replace("@TIMEOUT@", str(entry.timeout * 1000))

    def wired(self, text: str, file: str) -> tuple[Wired, ...]:
        found = COMMAND.search(text)
        return (Wired("tool.execute.before", tuple(json.loads(found[1]))),) if found else ()

    def brought(self, text: str) -> tuple[Hole, ...]:
        given = jsonc.objects(text)
        keys = [key for key in ("plugin", "mcp", "command", "instructions") if given.get(key)]
        return tuple(Hole(f"`{key}` of a project: opencode loads or starts it by itself", INSPECT) for key in keys)


SETTINGS = OpenCodeSettings("opencode")
