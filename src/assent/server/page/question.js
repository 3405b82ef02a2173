// One question, drawn whole: who asks, what would run, what it does, why it is asked. Answers nothing.

import { get } from "./api.js";
import { h, icon, toast } from "./dom.js";
import { MOST, diff, lines, parse, stat } from "./diff.js";
import { ring } from "./countdown.js";
import { OPERATIONS, clip, ending, folder, prose, runtime, shown, verb, visible, within } from "./words.js";

const WARNING = "M12 4.500l8.500 15h-17z M12 10v4.500 M12 17.300v.1";
const LABELLED = new Set([...OPERATIONS, "load"]);

const PARTS = 60; // of a receipt, drawn

export function title(question) {
  const tool = question.decision.tool || question.call.tool;
  return verb(tool) ?? `wants to use ${clip(question.call.tool, 60)}`;
}

const whole = new Map(); // long questions that were loaded: id and digest → the whole text
const KEPT = 40; // of these
const TABLE = 5000; // lines up to which all of a change is drawn side by side

const mark = (question) => `${question.id}/${question.digest}`;
const text = (question) => whole.get(mark(question)) ?? question.preview.text;
const isLong = ({ preview }) => preview.length > (preview.sent ?? preview.text.length);
const isManyLines = (question) => question.preview.kind === "diff" && lines(question.preview.text) > MOST;

// Whether everything that would run is on the page: before that it cannot be allowed.
export const isWhole = (question) => whole.has(mark(question)) || (!isLong(question) && !isManyLines(question));

async function fetchAll(question) {
  let found = question.preview.text, from = isLong(question) ? question.preview.sent : 0;
  while (from) {
    const piece = await get(`/v1/held/${encodeURIComponent(question.id)}/preview`, { from });
    found += piece.text;
    from = piece.next;
    if (!from && !piece.whole) throw new Error("It is longer than can be shown, so it cannot be allowed. Deny it, and let the agent do it in smaller parts.");
  }
  whole.set(mark(question), found);
  while (whole.size > KEPT) whole.delete(whole.keys().next().value);
}

export function draw(question, back, again) {
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
          call.cwd && call.cwd !== question.project ? [" · ", h("span", { class: "mono long" }, visible(call.cwd))] : null,
          call.session ? [" · session ", h("span", { class: "mono" }, clip(call.session, 14))] : null)),
      question.over || question.state === "queued" ? null : ring(question)),
    question.over ? over(question.over) : null,
    warnings(question.warnings),
    preview(question, again),
    says(call.description),
    h("div", { class: "facts" }, effects(question.effects, question.project), consequences(question.consequences ?? []), why(decision)),
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

// Says what is not shown, and how to see it.
function rest(question, again) {
  if (question.over || isWhole(question)) return null;
  const what = question.preview;
  const extent = isLong(question) ? `${(what.sent ?? what.text.length).toLocaleString("en")} of ${what.length.toLocaleString("en")} characters are shown` : `${MOST.toLocaleString("en")} of ${lines(what.text).toLocaleString("en")} lines are shown`;
  const show = async (event) => {
    event.target.disabled = true;
    try { await fetchAll(question); again?.(); } catch (error) { event.target.disabled = false; toast(error.message, true); }
  };
  return h("p", { class: "cut" }, `${extent}. You can allow it once all of it is shown. `, h("button", { type: "button", class: "show-all", "aria-keyshortcuts": "v", on: { click: show } }, "Show all of it ", h("kbd", {}, "V")));
}

function preview(question, again) {
  const { preview: what, call } = question;
  const found = text(question), cut = rest(question, again);
  if (what.kind === "diff" && whole.has(mark(question)) && lines(found) > TABLE)
    return h("section", { class: "block", "aria-label": "what would change" },
      h("header", {}, h("span", { class: "mono", title: visible(what.path) }, shown(within(what.path, question.project)))),
      h("pre", { class: "command", tabindex: 0 }, shown(found)));
  if (what.kind === "diff") {
    const hunks = parse(found);
    const sum = stat(hunks);
    return h("section", { class: "block", "aria-label": "what would change" },
      h("header", {}, h("span", { class: "mono", title: visible(what.path) }, shown(within(what.path, question.project))), h("span", { class: "diffstat" }, h("span", { class: "a" }, `+${sum.add}`), " ", h("span", { class: "d" }, `−${sum.del}`))),
      diff(hunks, whole.has(mark(question)) ? TABLE : MOST), cut);
  }
  const command = what.kind === "command";
  return h("section", { class: "block", "aria-label": command ? "the command" : "the input" },
    h("header", {}, h("span", { class: "mono" }, shown(clip(call.tool, 60))), copy(found)),
    h("pre", { class: "command", tabindex: 0 }, command ? h("span", { class: "prompt" }, "$ ") : null, shown(found)), cut);
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
    const [label, ...rest] = visible(each).split(" ");
    return LABELLED.has(label)
      ? h("li", {}, h("span", { class: `op ${label}` }, label), h("span", { class: "mono" }, shown(within(rest.join(" "), project))))
      : h("li", {}, h("span", { class: "op" }, "·"), h("span", {}, visible(each)));
  });
  return h("section", {}, h("h3", {}, "What it does"), rows.length ? h("ul", { class: "effects" }, rows) : h("p", { class: "soft" }, "No effects were found: read the call itself"));
}

export function consequences(list) {
  if (!list.length) return null;
  return h("section", { class: "consequences" }, h("h3", {}, "What it would cause"), h("ul", {}, list.map((each) =>
    h("li", { class: each.cut ? "cut-short" : "" }, prose(each.text)))));
}

function why(decision) {
  const part = decision.deciding;
  return h("section", {}, h("h3", {}, "Why it asks"), h("div", { class: "stack" },
    h("p", {}, prose(part.reason), " ", h("code", { class: "tag" }, visible(part.code))),
    part.rule ? h("p", { class: "small soft" }, part.reason.includes(part.rule) ? null : [h("code", {}, shown(part.rule)), " "], "from ", visible(part.source)) : null,
    part.flip ? h("p", { class: "small soft" }, "What would change it: ", prose(part.flip)) : null));
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
