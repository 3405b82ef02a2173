// Keeps the server's event stream open; reads it with fetch, so that the key can go in a header.

import { key, signedOut } from "./api.js";

export const SILENCE = 35000; // the server pings more often than this

export class Stream {
  constructor(onEvent, onState) {
    this.onEvent = onEvent;
    this.onState = onState;
    this.stopped = false;
    this.wait = 400;
    this.run();
  }

  stop() {
    this.stopped = true;
    this.abort?.abort();
  }

  async run() {
    while (!this.stopped) {
      this.onState("wait");
      try {
        await this.listen();
      } catch { /* said below */ }
      if (this.stopped) return;
      this.onState("off");
      await new Promise((done) => setTimeout(done, this.wait));
      this.wait = Math.min(this.wait * 2, 5000);
    }
  }

  async listen() {
    this.abort = new AbortController();
    const answer = await fetch("/v1/events", { headers: { "Assent-Key": key.get() }, signal: this.abort.signal, cache: "no-store" });
    if (answer.status === 401) {
      this.stopped = true;
      signedOut();
      return;
    }
    if (!answer.ok) throw new Error("no stream");
    this.onState("on");
    this.wait = 400;
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const silent = setTimeout(() => this.abort.abort(), SILENCE);
      const { done, value } = await reader.read().finally(() => clearTimeout(silent));
      if (done) return;
      text += value;
      let end;
      while ((end = text.indexOf("\n\n")) >= 0) {
        this.take(text.slice(0, end));
        text = text.slice(end + 2);
      }
    }
  }

  take(block) {
    let name = "message";
    const data = [];
    for (const line of block.split("\n")) {
      if (line.startsWith("event: ")) name = line.slice(7);
      else if (line.startsWith("data: ")) data.push(line.slice(6));
    }
    if (data.length) this.onEvent(name, JSON.parse(data.join("\n")));
  }
}
