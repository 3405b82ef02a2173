"""Adapters for Python agent frameworks, a module for each; each needs its framework, and this package none of them.

The shape that all of them have:

- A module is named after its framework, and imports it. `RUNTIME` is the framework's word in `contract.tools`.
- It gives one thing that the framework takes as it is: a hook, a middleware, a capability, a plugin. Its first argument
  is `session`: a `Session` (a `Gate` is one), or a function that gives the session of the run that asks. What the
  author's tools do is declared at the gate, by `Gate(tools=…)`.
- Every call goes through a `ToolGuard` (`tool_guard.py`): `await guard(tool, arguments)` or `guard_sync`. That reads
  the arguments strictly, never raises but CancelledError, and denies if they changed while a person was asked. An
  adapter catches nothing, decides nothing and remembers nothing.
- The arguments are those that the tool will get: the adapter is innermost, after whatever else changes them.
- Only `verdict.allowed` lets a call run. The model receives `denial_text(verdict)`, word for word. `verdict.stop` ends
  the run, if the framework can.
- Frameworks that pause a run have `durable=True`: an ask is `guard.hold(…)`, the pause carries `question(approval)`,
  and `guard.release(answer, …)` turns what came back into a verdict. See `tool_guard.py`.
- An agent within an agent is gated too. What an adapter cannot gate, it refuses when it is set up."""
