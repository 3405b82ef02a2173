// The trail: search, figures over time, and whether it is whole.

import { get, post } from "./api.js";
import { charts } from "./chart.js";
import { Copies } from "./copies.js";
import { empty, h, put } from "./dom.js";
import { record } from "./live.js";
import { count, plural, visible } from "./words.js";

const BOOK = "M12 12h18a4 4 0 0 1 4 4v36a4 4 0 0 0-4-4H12z M52 12H38a4 4 0 0 0-4 4v36a4 4 0 0 1 4-4h14z";
const SPANS = [["1 hour", 3600], ["1 day", 86400], ["7 days", 604800], ["30 days", 2592000]];

export class Audit {
  constructor(root) {
    this.root = root;
    this.query = { text: "", outcome: "", kind: "", span: 86400 };
    this.number = 0;
    this.copies = new Copies();
  }

  enter() {
    const change = (name) => (event) => { this.query[name] = event.target.value; this.soon(); };
    const choice = (name, label, options) => { const found = h("select", { "aria-label": label, on: { change: change(name) } }, options.map(([text, value]) => h("option", { value }, text))); found.value = this.query[name]; return found; };
    this.figures = h("section", { class: "tiles" });
    this.chart = h("section", { class: "panel" });
    this.verified = h("span", { class: "small soft", role: "status" });
    this.body = h("ol", { class: "stream" });
    put(this.root, h("header", { class: "head" }, h("h1", {}, "Audit"), h("p", {}, "What was decided, by what, and by whom")),
      h("div", { class: "row filters" }, h("div", { class: "grow" }, h("input", { type: "search", placeholder: "Search commands, files, codes, people", "aria-label": "search", value: this.query.text, on: { input: change("text") } })),
        choice("outcome", "outcome", [["any outcome", ""], ["allow", "allow"], ["ask", "ask"], ["deny", "deny"]]),
        choice("kind", "kind", [["every kind", ""], ["decisions", "decision"], ["answers", "answer"], ["grants", "grant"], ["modes", "mode"]]),
        choice("span", "time", SPANS), h("button", { type: "button", on: { click: (event) => this.verify(event.currentTarget) } }, "Verify")),
      h("p", {}, this.verified), this.figures, this.chart, this.copies.element, this.body);
    this.copies.load();
    this.load();
  }

  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.load(), 250);
  }

  async load() {
    const number = (this.number += 1);
    const since = Math.floor(Date.now() / 1000 - Number(this.query.span));
    const { text, outcome, kind } = this.query;
    try {
      const [found, stats] = await Promise.all([get("/v1/audit", { text, outcome, kind, since, limit: 200 }), get("/v1/audit/stats", { since })]);
      if (number !== this.number) return;
      put(this.figures, tiles(stats));
      put(this.chart, charts(stats.series) ?? h("p", { class: "soft" }, "Nothing was decided in this time."));
      put(this.body, found.records.length ? found.records.map((each) => record(each, found.records)) : empty(BOOK, "Nothing found", h("p", {}, text || outcome || kind ? "Try other words, or a longer time." : "The trail fills as agents make calls through the gate.")));
    } catch (error) {
      if (number === this.number) put(this.body, h("p", { class: "error" }, error.message));
    }
  }

  async verify(button) {
    button.disabled = true;
    put(this.verified, "checking every line…");
    try {
      const found = await post("/v1/audit/verify");
      this.verified.className = found.whole ? "small good" : "small error";
      put(this.verified, found.whole ? `The trail is intact: ${plural(found.records, "line")} checked.` : `The trail is not intact: ${visible(found.problems.join("; "))}`);
    } catch (error) {
      put(this.verified, error.message);
    } finally {
      button.disabled = false;
    }
  }
}

function tiles(stats) {
  const whole = stats.decisions;
  const share = (part) => (whole ? `${Math.round((100 * part) / whole)} %` : "–");
  const rows = [["decisions", count(whole)], ["ran without a question", share(stats.allowed)], ["questions", count(stats.asked)], ["denied by people", count(stats.refused)], ["expired or unseen", count(stats.timed_out)], ["median time to answer", stats.median_wait === null ? "–" : `${stats.median_wait.toFixed(1)} s`]];
  return rows.map(([name, value]) => h("div", { class: "tile" }, h("strong", {}, value), h("span", {}, name)));
}
