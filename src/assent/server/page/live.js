// The stream of decisions as they happen.

import { empty, h, put } from "./dom.js";
import { store } from "./store.js";
import { OUTCOMES, ago, bare, headline, prose, runtime, shown, time, visible } from "./words.js";

const PULSE = "M6 34h12l6-20 12 38 8-24 4 6h10";
const ROWS = 200;

export class Live {
  constructor(root) {
    this.root = root;
    this.outcomes = new Set(Object.keys(OUTCOMES));
    this.text = "";
    this.paused = null;
    this.rows = new Map();
    this.body = h("ol", { class: "stream" });
    store.on("decisions", () => this.later());
  }

  enter() {
    const search = h("input", { type: "search", placeholder: "Filter: a word, a tool, a code, a project", "aria-label": "filter", value: this.text, on: { input: (event) => { this.text = event.target.value; this.render(); } } });
    const chips = Object.keys(OUTCOMES).map((name) => h("button", { type: "button", class: `chip ${name}`, "aria-pressed": String(this.outcomes.has(name)), on: { click: (event) => {
      this.outcomes.has(name) ? this.outcomes.delete(name) : this.outcomes.add(name);
      event.currentTarget.setAttribute("aria-pressed", String(this.outcomes.has(name)));
      this.render();
    } } }, name));
    this.hold = h("button", { type: "button", on: { click: () => this.pause() } }, "Pause");
    put(this.root, h("header", { class: "head" }, h("h1", {}, "Live"), h("p", {}, "Every decision, as it is made")),
      h("div", { class: "row filters" }, h("div", { class: "grow" }, search), h("div", { class: "row" }, chips), this.hold), this.body);
    this.render();
  }

  pause() {
    this.paused = this.paused ? null : [...store.decisions];
    this.hold.textContent = this.paused ? "Resume" : "Pause";
    this.render();
  }

  later() {
    if (this.pending || !this.body.isConnected) return;
    this.pending = true;
    requestAnimationFrame(() => { this.pending = false; this.render(); });
  }

  render() {
    const all = this.paused ?? store.decisions;
    const found = all.filter((each) => this.fits(each)).slice(0, ROWS);
    if (!found.length) return put(this.body, empty(PULSE, all.length ? "Nothing matches the filter" : "No decisions yet", h("p", {}, all.length ? "Change the filter to see the rest." : "Decisions appear here as soon as an agent makes a call through the gate."), all.length ? null : h("p", { class: "small" }, "In the simulator you can try calls without an agent.")));
    // Existing rows are reused, so that an opened one stays open.
    const rows = new Map();
    for (const each of found) {
      const name = `${each.kind}/${each.id}/${each.n}`;
      rows.set(name, this.rows.get(name) ?? record(each, all));
    }
    this.rows = rows;
    put(this.body, [...rows.values()]);
  }

  fits(each) {
    if (each.outcome && !this.outcomes.has(each.outcome)) return false;
    if (!this.text) return true;
    return JSON.stringify(each).toLowerCase().includes(this.text.toLowerCase());
  }

  key(event) {
    if (event.key === " ") { this.pause(); return true; }
    return false;
  }
}

// One line of the trail, as the live view and the audit show it.
// For an answer it finds the decision among `all`.
export function record(each, all = []) {
  const about = each.kind === "answer" ? all.find((other) => other.kind === "decision" && other.id === each.id) : null;
  const kind = each.kind === "decision" ? "" : each.kind;
  const what = each.kind === "decision" || each.tool ? headline(each.tool, each.input, 160, each.project) : visible(each.rule || each.mode || each.reason || each.id);
  return h("li", {}, h("details", { class: `entry ${each.outcome}` },
    h("summary", {}, h("time", { title: new Date(each.time * 1000).toISOString() }, time(each.time)),
      h("span", { class: `badge ${each.outcome}`, title: each.contained ? `runs contained: ${visible(each.contained)}` : "" }, visible(kind || (each.contained ? "contained" : each.outcome))),
      h("span", { class: "what mono" }, kind === "answer" ? [about ? [headline(about.tool, about.input, 90, about.project), " "] : null, h("span", { class: "answered" }, bare(each.reason))] : what),
      h("span", { class: "from" }, each.runtime ? runtime(each.runtime) : "")),
    h("dl", { class: "fields" }, [["tool", each.tool], ["reason", each.reason], ["code", each.code], ["layer", each.layer], ["rule", each.rule ? `${each.rule}  ${each.source ?? ""}` : ""], ["does", (each.effects ?? []).join("; ")], ["causes", (each.consequences ?? []).join("; ")], ["contained", each.contained], ["mode", each.mode], ["risk", each.risk], ["who", each.who ? `${each.who}${each.channel ? ` in ${each.channel}` : ""}` : ""], ["scope", each.scope], ["project", each.project], ["session", each.session], ["took", each.latency ? (each.latency < 1 ? `${(each.latency * 1000).toFixed(1)} ms` : `${each.latency.toFixed(1)} s`) : ""], ["when", ago(store.now - each.time)], ["id", each.id]]
      .filter(([, value]) => value).map(([name, value]) => [h("dt", {}, name), h("dd", { class: ["code", "rule", "id", "session", "project"].includes(name) ? "mono" : "" }, name === "reason" ? prose(value) : shown(value))]),
      Object.keys(each.input ?? {}).length ? [h("dt", {}, "input"), h("dd", {}, h("pre", {}, shown(JSON.stringify(each.input, null, 1))))] : null)));
}
