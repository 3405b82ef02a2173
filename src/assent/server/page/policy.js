// The policy in force with its sources, what lint finds, saved answers, and the modes of sessions.

import { get, post, remove } from "./api.js";
import { $, h, put, toast } from "./dom.js";
import { store } from "./store.js";
import { MODES, OUTCOMES, SCOPES, ago, clip, count, folder, plural, runtime, sentence, shown, stamp, visible } from "./words.js";

const OFFERED = MODES.filter((mode) => mode !== "yolo"); // that is for the command line and the user's own file
const LAYERS = [...Object.entries(OUTCOMES).reverse().map(([name, { rules }]) => [name, sentence(rules)]), ["floor", "The floor: never opened"]];

export class Policy {
  constructor(root) {
    this.root = root;
    this.project = "";
    this.text = "";
    store.on("changed", () => { if (this.body?.isConnected) this.load(); });
  }

  enter() {
    this.where = h("select", { "aria-label": "project", on: { change: (event) => { this.project = event.target.value; this.load(); } } });
    this.body = h("div", { class: "stack" });
    put(this.root, h("header", { class: "head" }, h("h1", {}, "Policy"), h("p", {}, "The policy in force, and where each line comes from")), h("div", { class: "row filters" }, this.where), this.body);
    this.load();
  }

  async load() {
    try {
      const [policy, grants, modes] = await Promise.all([get("/v1/policy", { project: this.project }), get("/v1/grants"), get("/v1/mode", { project: this.project })]);
      put(this.where, policy.projects.map((each) => h("option", { value: each }, `${folder(each) || each} — ${visible(each)}`)));
      this.where.value = policy.project;
      put(this.body, policy.error ? broken(policy.error) : [overview(policy), findings(policy.findings)], this.modes(modes), this.grants(grants.grants), policy.error ? null : this.rules(policy), page());
    } catch (error) {
      put(this.body, h("p", { class: "error" }, error.message));
    }
  }

  modes(modes) {
    const rows = modes.sessions.map((each) => {
      const choice = h("select", { "aria-label": "mode of the session", on: { change: async (event) => {
        try { await post("/v1/mode", { session: each.session, mode: event.target.value }); toast(`the session is in ${event.target.value || "the policy's"} mode`); }
        catch (error) { toast(error.message, true); }
        this.load();
      } } }, h("option", { value: "" }, `as the policy says (${modes.mode})`), OFFERED.map((mode) => h("option", { value: mode }, mode)));
      choice.value = each.mode;
      return h("li", { class: "line" }, h("div", {}, h("strong", {}, folder(each.project) || "no project"), " ", h("span", { class: "badge accent" }, runtime(each.runtime)), " ", h("span", { class: "soft small mono" }, clip(each.session, 24)), h("div", { class: "soft small" }, `last call ${ago(store.now - each.seen)}`)), choice);
    });
    return h("section", { class: "panel stack" }, h("h2", {}, "Sessions"), rows.length ? h("ul", {}, rows) : h("p", { class: "soft" }, "No session has made a call since the server started. Each appears here, and you can set its mode."));
  }

  grants(grants) {
    const rows = grants.map((each) => h("li", { class: "line" }, h("div", {}, h("code", {}, each.rules.length ? shown(each.rules.join(" ; ")) : shown(each.shown || "the identical call")), h("div", { class: "soft small" }, [SCOPES[each.scope].kept, each.project && each.scope === "project" ? folder(each.project) : "", each.until ? `until ${stamp(each.until)}` : "", each.who ? `by ${visible(each.who)}` : "", stamp(each.made)].filter(Boolean).join(" · "))),
      h("button", { type: "button", on: { click: async () => { try { await remove(`/v1/grants/${encodeURIComponent(each.id)}`); toast("revoked"); } catch (error) { toast(error.message, true); } this.load(); } } }, "Revoke")));
    return h("section", { class: "panel stack" }, h("h2", {}, "Saved answers"), rows.length ? h("ul", {}, rows) : h("p", { class: "soft" }, "There are no saved answers. Answers that you save are listed here, and you can revoke them."));
  }

  rules(policy) {
    const body = h("div", { class: "stack" });
    const draw = () => put(body, LAYERS.map(([name, title]) => {
      const found = policy[name].filter((rule) => `${rule.rule} ${rule.source}`.toLowerCase().includes(this.text.toLowerCase()));
      return h("details", { class: "layer", open: name === "deny" || Boolean(this.text) }, h("summary", {}, h("strong", {}, title), " ", h("span", { class: "soft" }, count(found.length))),
        h("ul", {}, bySource(found).map(([source, rules]) => h("li", { class: "line rule" }, h("div", { class: "codes" }, rules.map((rule) => h("code", {}, shown(rule.rule)))), h("span", { class: "soft small" }, source.startsWith(rules[0].origin) ? null : h("span", { class: "badge" }, rules[0].origin), " ", visible(source))))));
    }));
    draw();
    return h("section", { class: "panel stack" }, h("h2", {}, "Rules"), h("input", { type: "search", placeholder: "Find a rule", "aria-label": "find a rule", value: this.text, on: { input: (event) => { this.text = event.target.value; draw(); } } }), body);
  }
}

// Rules of one entry are shown together, a person's own before those that ship.
function bySource(rules) {
  const found = new Map();
  for (const rule of rules) found.set(rule.source, [...(found.get(rule.source) ?? []), rule]);
  const rank = ([, [first]]) => (first.origin === "shipped" || first.origin === "pack" ? 1 : 0);
  return [...found.entries()].sort((a, b) => rank(a) - rank(b));
}

function broken(error) {
  return h("section", { class: "panel stack wrong" }, h("h2", {}, "The policy does not load"), h("p", {}, "Every call is denied until it is corrected. The server reads a changed file by itself."), h("pre", {}, shown(error)));
}

function overview(policy) {
  const rows = [["Mode", [h("strong", {}, policy.mode), policy.mode_set_by === "the default" ? ", since none is set" : `, set by ${visible(policy.mode_set_by)}`]], ["Capped by", policy.clamps.map(visible).join("; ")], ["Workspace", policy.workspace.map(visible).join(", ") || "none: nothing counts as inside"], ["Files", policy.files.map(visible).join(", ") || "none: only the shipped rules apply"], ["Packs", policy.packs.map((each) => visible(each.name)).join(", ")], ["Switched off", policy.off.map((each) => visible(each.id)).join(", ")], ["Declared tools", policy.tools.map((each) => visible(each.tool)).join(", ")], ["Sub-agents", policy.agents.map((each) => visible(each.agent) + (each.mode ? ` (${each.mode} at most)` : "")).join(", ")], ["Questions", `${policy.approval.timeout} s to answer, ${policy.approval.unseen} s if nobody can see them`]];
  return h("section", { class: "panel" }, h("dl", { class: "fields" }, rows.filter(([, value]) => value && value.length).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])));
}

// Small screens have no room for these beside the views.
function page() {
  return h("section", { class: "panel small-only row" }, [["notify", "Notify me"], ["out", "Sign out"]].filter(([id]) => !$(id).hidden).map(([id, label]) => h("button", { type: "button", on: { click: () => $(id).click() } }, label)));
}

function findings(list) {
  if (!list.length) return h("section", { class: "panel good" }, "Lint finds no problems: no rule is shadowed, dead or too broad.");
  return h("section", { class: "panel stack" }, h("h2", {}, `Lint: ${plural(list.length, "finding")}`), h("ul", {}, list.map((each) => h("li", { class: "line" }, h("div", {}, h("span", { class: "badge ask" }, visible(each.kind)), " ", h("code", {}, shown(each.rule)), h("div", { class: "small" }, shown(each.text)), h("div", { class: "soft small" }, visible(each.source)))))));
}
