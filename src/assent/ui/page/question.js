// One question, drawn whole: who asks, what would run, what it does, why it is asked. Answers nothing.

import { h, icon } from "./dom.js";
import { diff, parse, stat } from "./diff.js";
import { ring } from "./countdown.js";
import { clip, ending, folder, prose, runtime, shown, visible, within } from "./words.js";

const WARNING = "M12 4.500l8.500 15h-17z M12 10v4.500 M12 17.300v.1";
const OPERATIONS = new Set(["read", "list", "search", "fetch", "write", "delete", "run", "load", "delegate"]);

const PARTS = 60; // of a receipt, drawn

const VERBS = { __proto__: null, bash: "wants to run a command", write: "wants to change a file", delete: "wants to delete a file", move: "wants to move a file", read: "wants to read a file", fetch: "wants to fetch from the web", agent: "wants to start another agent", search: "wants to search", list: "wants to list files" };

export function title(question) {
  const tool = question.decision.tool || question.call.tool;
  return VERBS[tool] ?? `wants to use ${clip(question.call.tool, 60)}`;
}

export function draw(question, back) {
  const { call, decision } = question;
  return h("article", { class: "question", "aria-label": "the question" },
    h("button", { type: "button", class: "quiet back", on: { click: back } }, "‹ All questions"),
    h("header", { class: "q-head" },
      h("div", {},
        h("div", { class: "badges" },
          h("span", { class: "badge accent" }, runtime(call.runtime)),
          h("span", { class: `badge ${decision.risk}` }, `${decision.risk} risk`),
          question.state === "queued" && !question.over ? h("span", { class: "badge" }, "waits behind another") : null,
          h("span", { class: "badge wide" }, `${visible(decision.mode)} mode`)),
        h("h1", {}, `${runtime(call.runtime)} ${title(question)}`),
        h("p", { class: "in" }, "in ", h("strong", { title: visible(question.project) }, folder(question.project || call.cwd) || "no project"),
          call.cwd && call.cwd !== question.project ? [" · ", h("span", { class: "mono" }, clip(call.cwd, 90))] : null,
          call.session ? [" · session ", h("span", { class: "mono" }, clip(call.session, 14))] : null)),
      question.over || question.state === "queued" ? null : ring(question)),
    question.over ? over(question.over) : null,
    warnings(question.warnings),
    preview(question),
    says(call.description),
    h("div", { class: "facts" }, effects(question.effects, question.project), why(decision)),
    receipt(question));
}

function over(ended) {
  const by = ended.who && ended.ending === "answered" ? `${ended.mine ? "by you" : `by ${visible(ended.who)}, ${ended.channel.startsWith("web") ? "on another page" : `in ${visible(ended.channel)}`}`}. ` : "";
  return h("div", { class: `outcome ${ended.allowed ? "allow" : "deny"}`, role: "status" }, ending(ended), h("span", {}, by, ended.mine && ended.ending === "answered" ? "" : prose(ended.reason ?? "")));
}

function warnings(list) {
  if (!list.length) return null;
  return h("div", { class: "warn", role: "note" }, icon(WARNING), h("ul", {}, list.map((each) => h("li", {}, prose(each)))));
}

function preview(question) {
  const { preview: what, call } = question;
  const cut = what.length > what.text.length ? h("p", { class: "cut" }, `cut: ${what.text.length.toLocaleString("en")} of ${what.length.toLocaleString("en")} characters are shown`) : null;
  if (what.kind === "diff") {
    const hunks = parse(what.text);
    const sum = stat(hunks);
    return h("section", { class: "block", "aria-label": "what would change" },
      h("header", {}, h("span", { class: "mono", title: visible(what.path) }, shown(within(what.path, question.project))), h("span", { class: "diffstat" }, h("span", { class: "a" }, `+${sum.add}`), " ", h("span", { class: "d" }, `−${sum.del}`))),
      diff(hunks), cut);
  }
  const command = what.kind === "command";
  return h("section", { class: "block", "aria-label": command ? "the command" : "the input" },
    h("header", {}, h("span", { class: "mono" }, shown(clip(call.tool, 60))), copy(what.text)),
    h("pre", { class: "command", tabindex: 0 }, command ? h("span", { class: "prompt" }, "$ ") : null, shown(what.text)), cut);
}

function copy(text) {
  return h("button", { type: "button", class: "quiet", on: { click: (event) => {
    navigator.clipboard?.writeText(visible(text)).then(() => { event.target.textContent = "Copied"; });
  } } }, "Copy");
}

function says(text) {
  if (!text) return null;
  return h("section", { class: "says" }, h("h3", {}, "The agent says"), h("p", {}, shown(text.length > 600 ? `${text.slice(0, 600)}…` : text)));
}

export function effects(list, project = "") {
  const rows = list.map((each) => {
    const [verb, ...rest] = visible(each).split(" ");
    return OPERATIONS.has(verb)
      ? h("li", {}, h("span", { class: `op ${verb}` }, verb), h("span", { class: "mono" }, shown(within(rest.join(" "), project))))
      : h("li", {}, h("span", { class: "op" }, "·"), h("span", {}, visible(each)));
  });
  return h("section", {}, h("h3", {}, "What it does"), rows.length ? h("ul", { class: "effects" }, rows) : h("p", { class: "soft" }, "Nothing that could be seen: look at the text itself"));
}

function why(decision) {
  const part = decision.deciding;
  return h("section", {}, h("h3", {}, "Why it asks"), h("div", { class: "stack" },
    h("p", {}, prose(part.reason), " ", h("code", { class: "tag" }, visible(part.code))),
    part.rule ? h("p", { class: "small soft" }, part.reason.includes(part.rule) ? null : [h("code", {}, shown(part.rule)), " "], "from ", visible(part.source)) : null,
    part.flip ? h("p", { class: "small soft" }, "Would flip it: ", prose(part.flip)) : null));
}

function receipt(question) {
  const { decision, call } = question;
  return h("details", { class: "receipt" }, h("summary", {}, "Receipt and raw input ", h("kbd", {}, "D")),
    h("table", { class: "parts" }, h("tbody", {}, decision.parts.slice(0, PARTS).map((part) => h("tr", {},
      h("td", {}, h("span", { class: `badge ${part.outcome}` }, part.outcome)),
      h("td", {}, shown(part.what || part.reason), h("br", {}), h("span", { class: "soft small" }, `${part.layer} · ${part.code}${part.where ? ` · ${visible(part.where)}` : ""}`)),
    )), decision.parts.length > PARTS ? h("tr", {}, h("td", {}), h("td", { class: "soft small" }, `and ${decision.parts.length - PARTS + (decision.left ?? 0)} more parts`)) : null, decision.lost.map(([rule, source]) => h("tr", {}, h("td", {}, h("span", { class: "badge" }, "lost")), h("td", {}, h("code", {}, shown(rule)), " ", h("span", { class: "soft small" }, visible(source))))))),
    h("div", { class: "block" }, h("pre", { class: "command" }, shown(JSON.stringify(call.input, null, 2)))),
    h("p", { class: "soft small mono" }, `${question.id} · ${question.digest.slice(0, 24)}…`));
}
