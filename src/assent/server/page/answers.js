// The answer bar of one question: every answer by button and by key, and the rule that goes with wider ones.

import { post } from "./api.js";
import { offerUndo } from "./copies.js";
import { h, put, toast } from "./dom.js";
import { isWhole } from "./question.js";
import { store } from "./store.js";
import { DENIALS, SCOPES, count, plural, prose, sentence, shown } from "./words.js";

const shownRules = (each) => (each.shown ?? each.rules).join("\n");
const UNKNOWN = "It is not known whether your answer arrived: the server does not answer. When the connection is back, answer again if the question still waits.";
const NOT_WHOLE = "Not all of the call is shown yet. Show all of it to allow it; you can deny it now.";
const ARMING = 350; // milliseconds in which a question that has just appeared ignores keys and clicks

// So does one whose window has just come to the front: that key or click was meant for another window.
let woken = 0;
const wake = () => { woken = performance.now() + ARMING; };
addEventListener("focus", wake);
addEventListener("pageshow", wake);
document.addEventListener("visibilitychange", wake);

export class Answers {
  constructor(question) {
    this.question = question;
    this.digest = question.digest; // of what is shown, whatever arrives about the question later
    this.element = h("div", { class: "answers" });
    this.panel = null;
    this.busy = false;
    this.armed = 0;
    this.arm();
    this.bar();
  }

  // The question appears now.
  arm() { this.armed = performance.now() + ARMING; }

  get open() { return this.panel !== null; }

  get deaf() { return this.busy || Boolean(this.question.over) || performance.now() < Math.max(this.armed, woken) || document.hidden; }

  // Whether a yes would count; if not, say why.
  get mayAllow() {
    if (isWhole(this.question)) return true;
    toast(NOT_WHOLE, true);
    return false;
  }

  bar() {
    this.panel = null;
    const part = !isWhole(this.question);
    const button = (said, scope, label, key, style, action) => h("button", { type: "button", class: style, "data-answer": scope ?? said, "aria-disabled": String(part && said === "allow"), "aria-keyshortcuts": key, on: { click: action } }, label, h("kbd", {}, key.toUpperCase()));
    const bar = h("div", { class: "bar arming", role: "group", "aria-label": "answers" },
      h("div", { class: "bar-row" },
        button("allow", "once", sentence(SCOPES.once.offer), SCOPES.once.key, "yes", () => this.say("allow")),
        h("div", { class: "joined" }, Object.keys(SCOPES).filter((scope) => scope !== "once").map((scope) => button("allow", scope, sentence(SCOPES[scope].short), SCOPES[scope].key, "", () => this.edit(scope))))),
      h("div", { class: "bar-row" },
        button("deny", null, "Deny", DENIALS.deny[0], "no plain", () => this.say("deny")),
        button("message", null, "Deny, say why", DENIALS.message[0], "no", () => this.message()),
        button("stop", null, "Deny, and stop", DENIALS.stop[0], "no", () => this.say("stop"))));
    setTimeout(() => bar.classList.remove("arming"), Math.max(0, this.armed - performance.now()));
    put(this.element, h("div", {}, this.question.state === "queued" ? h("p", { class: "queued-note" }, "It waits behind another question; you can answer it early.") : null, bar));
  }

  key(key) {
    const scope = Object.keys(SCOPES).find((each) => SCOPES[each].key === key);
    if (this.open || this.question.over) return false;
    if (key === SCOPES.once.key) this.say("allow");
    else if (scope) this.edit(scope);
    else if (key === DENIALS.deny[0]) this.say("deny");
    else if (key === DENIALS.message[0]) this.message();
    else if (key === DENIALS.stop[0]) this.say("stop");
    else return false;
    return true;
  }

  async say(said, more = {}) {
    if (this.deaf || (said === "allow" && !this.mayAllow)) return;
    this.busy = true;
    this.question.mine = true;
    try {
      const reply = await post(`/v1/held/${encodeURIComponent(this.question.id)}/answer`, { digest: this.digest, said, scope: "once", rules: [], message: "", ...more });
      if (reply.note) toast(reply.note, true);
      if (said === "allow") offerUndo(this.question.id);
    } catch (error) {
      store.notMine(this.question);
      toast(error.code === "unreachable" ? UNKNOWN : error.message, true);
    } finally {
      this.busy = false;
    }
  }

  message() {
    if (this.deaf) return;
    const text = h("textarea", { id: "message", rows: 2, maxlength: 2000, placeholder: "Use the staging database instead" });
    const send = () => this.say("deny", { message: text.value.trim() });
    this.show("Deny, and tell the agent", [h("label", { class: "visually", for: "message" }, "message to the agent"), text], "Deny and send", send, text);
  }

  edit(scope) {
    if (this.deaf || !this.mayAllow) return;
    const offered = this.question.suggestions.length ? this.question.suggestions : [{ rules: [], width: "this exact call" }];
    const text = h("textarea", { id: "rule", rows: 1, spellcheck: "false", autocapitalize: "off", value: shownRules(offered[0]) });
    const radios = offered.map((each, at) => h("label", { class: "choice" },
      h("input", { type: "radio", name: "rule", value: at, checked: at === 0, on: { change: () => { text.value = shownRules(each); reach(); } } }),
      h("code", {}, each.rules.length ? shown(shownRules(each)) : "the identical call only"), h("kbd", {}, String(at + 1)),
      each.rules.length ? h("span", { class: "width" }, prose(each.width)) : null));
    const reached = h("div", { class: "reach", "aria-live": "polite" });
    // An offered rule is sent back unchanged, a typed one as typed.
    const rules = () => offered.find((each) => shownRules(each) === text.value)?.rules ?? text.value.split("\n").map((each) => each.trim()).filter(Boolean);
    let asked = 0, timer = 0;
    const reach = () => {
      clearTimeout(timer);
      timer = setTimeout(async () => {
        const number = (asked += 1);
        try {
          const found = await post(`/v1/held/${encodeURIComponent(this.question.id)}/reach`, { rules: rules(), scope });
          if (number === asked) { put(reached, drawReach(found, rules().length)); this.submit.disabled = Boolean(found.refusal); }
        } catch (error) {
          if (number === asked) put(reached, h("p", { class: "bad" }, error.message));
        }
      }, 180);
    };
    text.addEventListener("input", () => {
      const at = offered.findIndex((each) => shownRules(each) === text.value);
      radios.forEach((each, index) => { each.querySelector("input").checked = index === at; });
      reach();
    });
    const save = () => this.say("allow", { scope, rules: rules() });
    this.show(sentence(SCOPES[scope].offer), [
      h("fieldset", { class: "choices" }, h("legend", { class: "visually" }, "which calls"), radios),
      offered.some((each) => each.rules.length) ? [h("label", { class: "small soft", for: "rule" }, "The rule that will be saved. You can change it."), text] : text.remove(),
      reached], sentence(SCOPES[scope].offer), save, radios[0].querySelector("input"));
    this.digits = (at) => { const radio = radios[at]?.querySelector("input"); if (radio) radio.click(); };
    reach();
  }

  show(heading, content, action, run, focus) {
    this.digits = null;
    this.submit = h("button", { type: "submit", class: "primary" }, action, " ", h("kbd", {}, "Enter"));
    this.panel = h("form", { class: "editor", on: {
      submit: (event) => { event.preventDefault(); if (!this.submit.disabled) run(); },
      keydown: (event) => {
        if (event.key === "Enter" && !event.shiftKey && event.target.tagName !== "BUTTON") { event.preventDefault(); this.panel.requestSubmit(); }
        else if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); this.bar(); this.element.querySelector("button")?.focus(); }
        else if (this.digits && event.target.tagName !== "TEXTAREA" && /^[1-9]$/.test(event.key)) { event.preventDefault(); this.digits(Number(event.key) - 1); }
      },
    } }, h("h2", {}, heading, h("button", { type: "button", class: "quiet", on: { click: () => this.bar() } }, "Back ", h("kbd", {}, "Esc"))), content, h("div", { class: "row" }, this.submit));
    put(this.element, this.panel);
    focus?.focus();
  }
}

export function drawReach(found, rules) {
  if (found.refusal) return h("p", { class: "bad" }, prose(found.refusal));
  if (!rules) return h("p", {}, "Only the identical call is allowed again, in the same folder.");
  const out = [];
  if (found.looked_at) {
    const share = (part) => `${Math.max(part ? 1.5 : 0, (100 * part) / found.looked_at)}%`;
    const matched = h("i", {}), denied = h("b", {});
    matched.style.width = share(found.matched - found.denied);
    denied.style.width = share(found.denied);
    out.push(h("p", {}, "Would have matched ", h("strong", {}, count(found.matched)), ` of your last ${plural(found.looked_at, "call")}`, found.denied ? [", ", h("span", { class: "bad" }, `${count(found.denied)} of them you denied`)] : ""),
      h("div", { class: "track", "aria-hidden": "true" }, matched, denied));
  } else out.push(h("p", { class: "soft" }, "There are no calls in the trail yet to compare it with"));
  if (!found.covers) out.push(h("p", { class: "soft" }, "It does not cover this call, which still runs once."));
  return out;
}
