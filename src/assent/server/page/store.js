// The state of the page: the questions, the latest decisions, the server's clock. Draws nothing.

const KEPT = 400; // decisions in the live view
const LINGER = 12; // seconds that an ended question stays in the list

class Store extends EventTarget {
  constructor() {
    super();
    this.questions = new Map();
    this.decisions = [];
    this.offers = [];
    this.skew = 0;
    this.loaded = false;
  }

  get now() { return Date.now() / 1000 + this.skew; }

  // Seconds on a monotonic clock; deadlines are converted to it as they arrive.
  get steady() { return performance.now() / 1000; }

  say(name, detail) { this.dispatchEvent(new CustomEvent(name, { detail })); }

  on(name, action) {
    this.addEventListener(name, (event) => action(event.detail));
  }

  // Takes every event of the stream.
  take(name, data) {
    if (typeof data.now === "number") this.skew = data.now - Date.now() / 1000;
    if (name === "hello") this.hello(data);
    else if (name === "held") this.held(data);
    else if (name === "ended") this.ended(data);
    else if (name === "decision") this.decision(data);
    else if (name === "offer") this.offered(data);
    else if (name === "offer-ended") this.dropOffer(data.id);
    else if (name === "signed-in") this.say("signed-in", data);
    else if (name === "changed") this.say("changed", data);
  }

  hello(data) {
    const alive = new Set(data.alive);
    for (const [id, question] of this.questions)
      if (!alive.has(id) && !question.over) question.over = { ending: "lost", allowed: false, at: this.steady };
    for (const each of data.recent ?? []) this.decision(each, true);
    this.offers = data.offers ?? [];
    this.loaded = true;
    this.say("questions");
    this.say("decisions");
  }

  held(question) {
    const before = this.questions.get(question.id);
    question.until = question.deadline ? this.steady + question.deadline - (question.now ?? this.now) : null;
    if (before) Object.assign(before, question, { over: null });
    else this.questions.set(question.id, { ...question, over: null });
    this.say("questions");
    if (!before) this.say("asked", question);
  }

  ended(over) {
    const question = this.questions.get(over.id);
    if (!question) return;
    question.over = { ...over, at: this.steady, mine: question.mine ?? false };
    this.say("questions");
    this.say("over", question);
  }

  // An answer given here did not count: another one did.
  notMine(question) {
    question.mine = false;
    if (!question.over) return;
    question.over.mine = false;
    this.say("questions");
  }

  decision(record, quiet = false) {
    if (this.decisions.some((each) => each.id === record.id && each.kind === record.kind && each.n === record.n)) return;
    this.decisions.unshift(record);
    if (this.decisions.length > KEPT) this.decisions.length = KEPT;
    if (!quiet) this.say("decisions", record);
  }

  // One offer for a session: a newer one replaces the one before.
  offered(offer) {
    this.offers = [...this.offers.filter((each) => each.runtime !== offer.runtime || each.session !== offer.session), offer];
    this.say("questions");
  }

  dropOffer(id) {
    this.offers = this.offers.filter((each) => each.id !== id);
    this.say("questions");
  }

  // The whole state as events, for a tab that has just opened.
  events() {
    const now = this.now;
    const waiting = this.waiting.map(({ over, mine, until, ...question }) => ({ ...question, now, deadline: until === null ? null : now + until - this.steady }));
    const hello = { now, alive: waiting.map((each) => each.id), offers: this.offers, recent: [...this.decisions].reverse() };
    return [["hello", hello], ...waiting.map((each) => ["held", each])];
  }

  get waiting() { return [...this.questions.values()].filter((each) => !each.over); }

  // Forget questions that ended a while ago, except the selected one.
  sweep(keep) {
    let gone = false;
    for (const [id, question] of this.questions)
      if (question.over && id !== keep && this.steady - question.over.at > LINGER) {
        this.questions.delete(id);
        gone = true;
      }
    if (gone) this.say("questions");
  }
}

export const store = new Store();
