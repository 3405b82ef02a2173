// Text as the server made it safe to show, and the words for what the server names by short ones.

// The server writes out what hides or disguises (contract/display.py). This is the second line: it should find nothing.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\u2028\u2029]/gu;
const ESCAPED = /\\u\{[0-9a-f]{1,6}\}/g;

export const visible = (text) => String(text ?? "").replace(HIDDEN, (found) => (found === "\n" || found === "\t" ? found : `\\u{${found.codePointAt(0).toString(16)}}`));

// The same as nodes: what was written out stands out.
export function shown(text) {
  const safe = visible(text);
  const out = [];
  let at = 0;
  for (const found of safe.matchAll(ESCAPED)) {
    const mark = document.createElement("span");
    mark.className = "esc";
    mark.title = "a character that hides or disguises, written out";
    mark.textContent = found[0];
    out.push(safe.slice(at, found.index), mark);
    at = found.index + found[0].length;
  }
  out.push(safe.slice(at));
  return out;
}

// A sentence: what stands in back-quotes is set as code.
export function prose(text) {
  return visible(text).split("`").map((each, at) => {
    if (at % 2 === 0) return shown(each);
    const code = document.createElement("code");
    code.append(...shown(each));
    return code;
  });
}

export const sentence = (text) => visible(text).replace(/^./, (first) => first.toUpperCase());
export const bare = (text) => visible(text).replaceAll("`", "");

export function clip(text, length) {
  const flat = visible(text).replace(/\s+/g, " ").trim();
  return flat.length > length ? `${flat.slice(0, length - 1)}…` : flat;
}

const RUNTIMES = { __proto__: null, "claude-code": "Claude Code", claude: "Claude Code", codex: "Codex", gemini: "Gemini CLI", "gemini-cli": "Gemini CLI", opencode: "opencode", openharness: "OpenHarness", python: "Python agent", example: "An example agent", assent: "assent run", "assent-tools": "Agent" };
export const runtime = (name) => RUNTIMES[name] ?? (name ? clip(name, 30) : "an agent");

export const SCOPES = {
  once: { label: "Allow once", done: "Allowed once", key: "y" },
  "15m": { label: "15 min", title: "Allow for 15 minutes", done: "Allowed for 15 minutes", key: "m" },
  session: { label: "Session", title: "Allow for this session", done: "Allowed for this session", key: "s" },
  project: { label: "Always here", title: "Always allow in this project", done: "Always allowed in this project", key: "p" },
  everywhere: { label: "Everywhere", title: "Always allow, everywhere", done: "Always allowed, everywhere", key: "e" },
};

const ENDINGS = {
  expired: "Expired: nobody answered in time", unseen: "Nobody could see it", dismissed: "Put away", lost: "Lost: the place that showed it went away",
  cancelled: "The agent withdrew it", changed: "It changed after it was shown", overruled: "The rules deny it by now", fault: "Something broke", closed: "The server was stopped", settled: "Settled by what you allowed before",
};

export function ending(over) {
  if (over.ending === "answered") {
    if (!over.allowed) return over.said === "stop" ? "Denied, and the agent is told to stop" : "Denied";
    return SCOPES[over.scope]?.done ?? "Allowed";
  }
  if (over.ending === "settled" && over.allowed) return ENDINGS.settled;
  return `${ENDINGS[over.ending] ?? over.ending} — it did not run`;
}

export function clock(seconds) {
  const left = Math.max(0, Math.ceil(seconds));
  return left >= 600 ? `${Math.round(left / 60)}m` : left >= 60 ? `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}` : `${left}s`;
}

export function ago(seconds) {
  if (seconds < 5) return "now";
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} d ago`;
}

export const time = (at) => new Date(at * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
export const stamp = (at) => new Date(at * 1000).toLocaleString([], { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hour12: false });
export const folder = (path) => clip(String(path ?? "").split("/").filter(Boolean).pop() ?? "", 60);
export const count = (number) => Number(number).toLocaleString("en");
export const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;

// A path as seen from the project that it lies in.
export const within = (path, project) => (project && path.startsWith(`${project}/`) ? path.slice(project.length + 1) : path);

// The one line by which a call is told apart from others.
export function headline(tool, input, length = 120, project = "") {
  const value = input ?? {};
  for (const name of ["command", "cmd", "file_path", "path", "url", "query", "pattern", "subagent_type", "prompt"])
    if (typeof value[name] === "string" && value[name]) return clip(within(value[name], project), length);
  if (Array.isArray(value.command)) return clip(value.command.join(" "), length);
  const text = JSON.stringify(value);
  return text === "{}" ? visible(tool) : clip(text, length);
}
