// Text as the server made it safe to show, and the words for what the server names by short ones.

import VOCABULARY from "./vocabulary.js"; // made by the server of contract/words.py

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

const own = (table, name) => (Object.hasOwn(table, name) ? table[name] : undefined);

export const runtime = (name) => own(VOCABULARY.runtimes, name) ?? own(VOCABULARY.callers, name) ?? (name ? clip(name, 30) : "an agent");
export const verb = (tool) => own(VOCABULARY.tools, tool);

export const SCOPES = VOCABULARY.scopes;
export const DENIALS = VOCABULARY.denials;
export const MODES = VOCABULARY.modes;
export const OPERATIONS = VOCABULARY.operations;
export const OUTCOMES = VOCABULARY.outcomes;

export function ending(over) {
  if (over.ending === "answered") return sentence(over.allowed ? own(SCOPES, over.scope)?.done ?? "allowed" : own(VOCABULARY.said, over.said) ?? "denied");
  const told = sentence(own(VOCABULARY.endings, over.ending) ?? over.ending);
  return over.ending === "settled" && over.allowed ? told : `${told} — it did not run`;
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
  for (const name of VOCABULARY.telling)
    if (typeof value[name] === "string" && value[name]) return clip(within(value[name], project), length);
  if (Array.isArray(value.command)) return clip(value.command.join(" "), length);
  const text = JSON.stringify(value);
  return text === "{}" ? visible(tool) : clip(text, length);
}
