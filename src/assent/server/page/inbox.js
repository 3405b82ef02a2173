// The inbox: waiting questions by session, and the selected question.

import { Answers } from "./answers.js";
import { left } from "./countdown.js";
import { empty, h, put, toast } from "./dom.js";
import { post } from "./api.js";
import { draw } from "./question.js";
import { store } from "./store.js";
import { bare, clip, count, ending, folder, headline, plural, runtime, sentence, visible } from "./words.js";

const ROWS = 240; // drawn in all, shared by the sessions
const GROUPS = 60; // sessions that are drawn (`DRAWN` in `events.py`: the clocks of no others run)
const OFFERS = 2; // offers that are drawn
const MANY = 100; // number of questions from which drawing is delayed
const TRAY = "M10 36l8-22h28l8 22v16H10z M10 36h13l4 7h10l4-7h13";

export class Inbox {
  constructor(root) {
    this.root = root;
    this.selected = null;
    this.drawn = null;
    this.answers = null;
    this.list = h("section", { class: "list", "aria-label": "questions" });
    this.detail = h("section", { class: "detail", "aria-live": "off" });
    this.frame = h("div", { class: "inbox" }, this.list, this.detail);
    this.pending = false;
    store.on("questions", () => this.later());
  }

  enter() {
    put(this.root, this.frame);
    this.root.classList.add("wide");
    this.drawn = null;
    this.answers?.arm();
    this.render();
  }

  leave() { this.root.classList.remove("wide"); }

  // Many questions at once are drawn once.
  later() {
    if (this.pending || !this.frame.isConnected) return;
    this.pending = true;
    const draw = () => { this.pending = false; this.render(); };
    store.questions.size > MANY ? setTimeout(draw, 200) : requestAnimationFrame(draw);
  }

  order() {
    const groups = new Map();
    for (const question of store.questions.values()) {
      const name = `${question.call.runtime}\0${question.call.session}\0${question.project}`;
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(question);
    }
    for (const group of groups.values()) group.sort((a, b) => Boolean(a.over) - Boolean(b.over) || (a.position ?? 0) - (b.position ?? 0) || a.made - b.made);
    // Questions that are asked come before queued ones: their clocks run.
    const waits = (group) => group[0].state === "queued" && !group[0].over;
    return [...groups.values()].sort((a, b) => Boolean(a[0].over) - Boolean(b[0].over) || waits(a) - waits(b) || a[0].made - b[0].made);
  }

  render() {
    const groups = this.order();
    const flat = groups.flat();
    this.choose(flat);
    const quiet = flat.length === 0 && store.offers.length === 0;
    this.frame.classList.toggle("bare", quiet);
    if (quiet) return put(this.frame, this.nothing());
    if (!this.list.isConnected) put(this.frame, this.list, this.detail);
    const focused = document.activeElement?.dataset?.id;
    put(this.list, h("h1", {}, store.waiting.length ? plural(store.waiting.length, "question") : "All answered"), this.offers(), groups.slice(0, GROUPS).map((group) => this.group(group, Math.max(4, Math.floor(ROWS / groups.length)))), this.rest(groups.slice(GROUPS)));
    if (focused) this.list.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus();
    this.show(store.questions.get(this.selected));
  }

  // Keep the selected question. Only an ended one makes room for the next, and not while the person types.
  choose(flat) {
    const current = store.questions.get(this.selected);
    if (current && !current.over) return;
    if (current?.over && store.steady - current.over.at < 0.7) {
      setTimeout(() => this.later(), 750);
      return;
    }
    const next = flat.find((each) => !each.over);
    if (next) this.selected = next.id;
    else if (!current) this.selected = flat[0]?.id ?? null;
    if (!next) this.frame.classList.remove("open");
  }

  select(id, open = true) {
    this.selected = id;
    if (open) this.frame.classList.add("open");
    const row = this.list.querySelector(`[data-id="${CSS.escape(id)}"]`);
    if (!row) return this.render();
    for (const each of this.list.querySelectorAll('[aria-current="true"]')) each.setAttribute("aria-current", "false");
    row.setAttribute("aria-current", "true");
    return this.show(store.questions.get(id));
  }

  group(group, most) {
    const { call, project } = group[0];
    const waiting = group.filter((each) => !each.over).length;
    return h("section", { class: "group" },
      h("header", {}, h("div", { class: "who" }, h("span", {}, folder(project || call.cwd) || "no project"), h("span", { class: "badge accent" }, runtime(call.runtime))),
        h("div", { class: "where", title: visible(project) }, visible(project || call.cwd), call.session ? ` · ${clip(call.session, 12)}` : "")),
      h("ul", {}, group.slice(0, most).map((each) => h("li", {}, this.item(each)))),
      waiting > most ? h("p", { class: "soft small where" }, `and ${count(waiting - most)} more in the queue`) : null);
  }

  // The others are drawn as those before them are answered.
  rest(groups) {
    const waiting = groups.flat().filter((each) => !each.over).length;
    return waiting ? h("p", { class: "soft small rest" }, `and ${count(waiting)} more in ${plural(groups.length, "other session")}`) : null;
  }

  item(question) {
    const { call, decision, over } = question;
    const style = ["item", decision.risk, question.state === "queued" ? "queued" : "", over ? `over ${over.allowed ? "allow" : "deny"}` : ""].join(" ");
    return h("button", { type: "button", class: style, "data-id": question.id, "aria-current": String(question.id === this.selected), on: { click: () => this.select(question.id) } },
      h("span", { class: "title" }, headline(call.tool, call.input, 90, question.project)), over ? null : left(question),
      h("span", { class: "meta" }, h("span", { class: "dot" }), h("span", { class: "why" }, over ? ending(over) : bare(decision.deciding.reason))));
  }

  show(question) {
    if (!question) { put(this.detail); this.drawn = this.answers = null; return; }
    const mark = `${question.id}/${question.digest}/${question.over ? `over/${question.over.mine}` : question.state === "queued" ? "queued" : "open"}`;
    if (mark === this.drawn) return;
    // Typed text survives a change of view and a new sign-in.
    const same = this.answers && !question.over && this.answers.question.id === question.id && this.answers.digest === question.digest;
    this.drawn = mark;
    if (!same) this.answers = question.over ? null : new Answers(question);
    else { this.answers.question = question; if (!this.answers.open) this.answers.bar(); }
    put(this.detail, h("div", { class: "detail-scroll", tabindex: -1 }, draw(question, () => { this.frame.classList.remove("open"); }, () => this.again(question))), this.answers?.element);
  }

  // All of a long question is loaded: draw it again at the same scroll position.
  again(question) {
    if (this.selected !== question.id) return;
    const at = this.detail.querySelector(".detail-scroll")?.scrollTop ?? 0;
    this.drawn = null;
    this.show(store.questions.get(question.id));
    const scroll = this.detail.querySelector(".detail-scroll");
    if (scroll) scroll.scrollTop = at;
  }

  // Only the newest, so that questions stay in view.
  offers() {
    const more = store.offers.length - OFFERS;
    return [store.offers.slice(-OFFERS).reverse().map((each) => this.offer(each)), more > 0 ? h("p", { class: "soft small rest" }, `and ${plural(more, "older offer")}`) : null];
  }

  offer(offer) {
    const take = async (choice) => {
      try {
        const { words } = await post("/v1/offers", { id: offer.id, ...choice });
        toast(words);
      } catch (error) {
        toast(error.message, true);
        if (error.code !== "unknown") return; // it is still open
      }
      store.dropOffer(offer.id);
    };
    const way = (label, meant, choice) => h("div", { class: "way" }, h("button", { type: "button", on: { click: () => take(choice) } }, label), h("span", { class: "soft small" }, sentence(visible(meant ?? ""))));
    return h("div", { class: "offer", role: "note" }, h("p", { class: "small soft" }, runtime(offer.runtime), offer.session ? ` · ${clip(offer.session, 24)}` : ""), h("p", {}, `${sentence(offer.words)}. Change something for this session?`),
      offer.rules.map((rule) => way(`always deny ${visible(rule)}`, offer.rule_meant, { rule })), offer.modes.map((mode) => way(`${visible(mode)} mode`, offer.meant?.[mode], { mode })),
      h("div", { class: "row" }, h("button", { type: "button", class: "quiet", on: { click: () => take({}) } }, "Leave it as it is")));
  }

  nothing() {
    if (!store.loaded) return empty(TRAY, "Loading", h("p", {}, "Loading the questions…"));
    return empty(TRAY, "Nothing waits for you", h("p", {}, "When an agent wants to do something that your rules leave open, it is shown here. Keep this tab open, or switch notifications on."),
      h("p", {}, h("button", { type: "button", on: { click: () => this.example() } }, "Show me what that looks like")));
  }

  // A question as an agent would cause it. Nothing runs, whatever the answer is.
  async example() {
    const call = { tool: "bash", input: { command: "git push origin main" }, session: "example", runtime: "example", description: "An example: nothing runs, whatever you answer", wait: 120 };
    try {
      const found = await post("/v1/calls", call);
      if (!found.waiting && !found.resolution) toast(found.allowed ? "your policy lets this example run without asking" : "your policy stops this example without asking");
    } catch (error) { toast(error.message, true); }
  }

  key(event) {
    const key = event.key;
    if (key === "j" || key === "ArrowDown" || key === "k" || key === "ArrowUp") {
      const flat = this.order().flat();
      const at = flat.findIndex((each) => each.id === this.selected);
      const next = flat[at + (key === "j" || key === "ArrowDown" ? 1 : -1)];
      if (next) { this.select(next.id); this.list.querySelector('[aria-current="true"]')?.scrollIntoView({ block: "nearest" }); }
      return true;
    }
    if (key === "d") {
      const receipt = this.detail.querySelector("details.receipt");
      if (receipt) { receipt.open = !receipt.open; if (receipt.open) receipt.scrollIntoView({ block: "nearest" }); }
      return true;
    }
    if (key === "v") { this.detail.querySelector("button.show-all")?.click(); return true; }
    if (key === "Escape") { this.frame.classList.remove("open"); return true; }
    return this.answers?.key(key.toLowerCase()) ?? false;
  }
}

setInterval(() => store.sweep(Inbox.current?.selected), 2000);
