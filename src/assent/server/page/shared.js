// One event stream for all tabs of this browser: a browser opens few connections to one host, and each stream takes one.
// The tab that holds the lock listens and forwards the events; when it closes, the next tab takes the lock.

import { SILENCE, Stream } from "./stream.js";

const NAME = "assent.stream";
const LOOK = 4000; // milliseconds between checks whether the listening tab is alive

export class Shared {
  // `known` gives everything that is known as events, for a tab that has just opened.
  constructor(onEvent, onState, known) {
    Object.assign(this, { onEvent, onState, known, state: "wait", leads: false, heard: performance.now(), id: crypto.randomUUID() });
    this.ending = new AbortController();
    onState("wait");
    if (!navigator.locks || !window.BroadcastChannel) { this.lead(); return; }
    this.channel = new BroadcastChannel(NAME);
    this.channel.onmessage = (event) => this.hear(event.data);
    this.channel.postMessage({ asks: this.id });
    this.queue();
    this.looking = setInterval(() => this.look(), LOOK);
  }

  stop() {
    this.ending.abort();
    clearInterval(this.looking);
    this.stream?.stop();
    this.release?.();
    this.channel?.close();
    this.channel = null;
  }

  // Wait for the lock, or take it from a tab that has gone silent.
  async queue(steal = false) {
    const { signal } = this.ending;
    const held = () => (signal.aborted ? null : new Promise((done) => { this.release = done; this.lead(); }));
    await navigator.locks.request(NAME, steal ? { steal } : { signal }, held).catch(() => {});
    if (!this.leads || signal.aborted) return;
    this.stream.stop(); // another tab took it
    this.leads = false;
    this.heard = performance.now();
    this.queue();
  }

  lead() {
    this.leads = true;
    this.stream = new Stream((name, data) => { this.onEvent(name, data); this.say({ name, data }); }, (state) => { this.turn(state); this.say({ state }); });
  }

  look() {
    if (this.leads || document.hidden || performance.now() - this.heard < SILENCE + LOOK) return;
    this.heard = performance.now();
    this.turn("off");
    this.ending.abort();
    this.ending = new AbortController();
    this.queue(true);
  }

  hear({ asks, to, events, name, data, state }) {
    if (asks) {
      if (this.leads) this.say({ to: asks, state: this.state, events: this.state === "on" ? this.known() : [] });
      return;
    }
    if (this.leads || (to && to !== this.id)) return;
    this.heard = performance.now();
    if (state) this.turn(state);
    for (const [each, what] of events ?? []) this.onEvent(each, what);
    if (name) this.onEvent(name, data);
  }

  say(message) { this.channel?.postMessage(message); }

  turn(state) {
    this.state = state;
    this.onState(state);
  }
}
