// Try a call without running it: the outcome, layer by layer, and the ten operations in the five modes.

import { get, post } from "./api.js";
import { h, put } from "./dom.js";
import { MODES, OUTCOMES, prose, sentence, shown, visible } from "./words.js";

const MAIN = { __proto__: null, bash: "command", read: "file_path", write: "file_path", delete: "file_path", list: "path", search: "path", fetch: "url", websearch: "query", agent: "subagent_type" };

export class Simulator {
  constructor(root) {
    this.root = root;
    this.mode = "";
    this.tool = "bash";
    this.text = "git push origin main";
    this.project = "";
    this.input = null;
    this.number = 0;
  }

  async enter() {
    this.result = h("section", { class: "panel result", "aria-live": "polite" }, h("p", { class: "soft" }, "Type a call, or choose one of the ten below."));
    this.table = h("section", { class: "panel" });
    this.call = h("textarea", { id: "sim-text", rows: 2, spellcheck: "false", class: "mono", value: this.text, on: { input: (event) => { this.text = event.target.value; this.input = null; this.soon(); } } });
    this.tools = h("select", { id: "sim-tool", on: { change: (event) => { this.tool = event.target.value; this.input = null; this.run(); } } }, Object.keys(MAIN).map((name) => h("option", { value: name }, name)));
    this.tools.value = this.tool;
    this.where = h("input", { id: "sim-project", placeholder: "the server's folder", list: "sim-projects", class: "mono", value: this.project, on: { change: (event) => { this.project = event.target.value.trim(); this.run(); this.fill(); } } });
    this.names = h("datalist", { id: "sim-projects" });
    this.segments = h("div", { class: "segments", role: "radiogroup", "aria-label": "mode" }, ["", ...MODES].map((mode) => h("button", { type: "button", role: "radio", "aria-checked": String(mode === this.mode), "data-mode": mode, on: { click: () => { this.choose(mode); } } }, mode || "now")));
    put(this.root, h("header", { class: "head" }, h("h1", {}, "Simulator"), h("p", {}, "What would happen to a call. Nothing runs, nothing is recorded.")),
      h("div", { class: "sim" }, h("section", { class: "panel stack" }, this.segments,
        h("div", { class: "sim-call" }, h("label", { class: "field" }, h("span", {}, "Tool"), this.tools), h("label", { class: "field" }, h("span", {}, "Command, path, address, or the input as JSON"), this.call)),
        h("label", { class: "field" }, h("span", {}, "Project folder"), this.where, this.names)), this.result), this.table);
    this.run();
    this.fill();
  }

  choose(mode) {
    this.mode = mode;
    for (const each of this.segments.children) each.setAttribute("aria-checked", String(each.dataset.mode === mode));
    this.run();
  }

  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.run(), 220);
  }

  given() {
    if (this.input) return this.input;
    const text = this.text.trim();
    if (text.startsWith("{")) try { return JSON.parse(text); } catch { /* then it is a command */ }
    return { [MAIN[this.tool] ?? "input"]: this.text };
  }

  async run() {
    const number = (this.number += 1);
    try {
      const found = await post("/v1/simulate", { tool: this.tool, input: this.given(), mode: this.mode, project: this.project });
      if (number === this.number) put(this.result, drawDecision(found));
    } catch (error) {
      if (number === this.number) put(this.result, h("p", { class: "error" }, error.message));
    }
  }

  async fill() {
    try {
      const found = await get("/v1/simulate", { project: this.project });
      put(this.names, found.projects.map((each) => h("option", { value: each })));
      put(this.table, h("h2", {}, "Ten operations, five modes"), h("div", { class: "scroll" }, h("table", { class: "grid" },
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Operation"), MODES.map((mode) => h("th", { scope: "col" }, mode)))),
        h("tbody", {}, found.operations.map((row) => h("tr", {}, h("th", { scope: "row" }, h("button", { type: "button", class: "quiet", on: { click: () => this.take(row, "") } }, row.name)),
          MODES.map((mode) => h("td", {}, h("button", { type: "button", class: `cell ${row.outcomes[mode]}`, "aria-label": `${row.name} in ${mode}: ${row.outcomes[mode]}`, on: { click: () => this.take(row, mode) } }, row.outcomes[mode])))))))));
    } catch (error) {
      put(this.table, h("p", { class: "error" }, error.message));
    }
  }

  take(row, mode) {
    this.tool = row.tool in MAIN ? row.tool : this.tool;
    this.input = row.input;
    const main = MAIN[row.tool];
    this.text = main && Object.keys(row.input).length === 1 ? String(row.input[main]) : JSON.stringify(row.input);
    this.tools.value = this.tool;
    this.call.value = this.text;
    this.choose(mode);
    this.result.scrollIntoView({ block: "nearest", behavior: "smooth" });
  }
}

export function drawDecision(found) {
  return [h("div", { class: `verdict ${found.outcome}` }, h("strong", {}, found.outcome), h("span", {}, sentence(OUTCOMES[found.outcome].would))),
    h("p", {}, prose(found.reason), " ", h("code", { class: "tag" }, visible(found.code))),
    found.rule ? h("p", { class: "small" }, "Rule ", h("code", {}, shown(found.rule)), " ", h("span", { class: "soft" }, visible(found.source))) : null,
    h("ol", { class: "layers" }, found.layers.map((layer) => h("li", { class: layer.decides ? `decides ${found.outcome}` : layer.state },
      h("i", {}), h("div", {}, h("strong", {}, layer.name), h("span", { class: "soft small" }, ` ${visible(layer.words)}`),
        layer.parts.length ? h("ul", {}, layer.parts.slice(0, 5).map((part) => h("li", {}, h("span", { class: `badge ${part.outcome}` }, part.outcome), " ", h("span", { class: "mono small" }, prose(part.part || part.code)))), layer.parts.length > 5 ? h("li", { class: "soft small" }, `and ${layer.parts.length - 5} more`) : null) : null)))),
    found.flip && found.outcome !== "allow" ? h("p", { class: "note small" }, "What would change it: ", prose(found.flip)) : null,
    h("p", { class: "soft small" }, `${found.mode} mode · ${found.risk} risk`)];
}
