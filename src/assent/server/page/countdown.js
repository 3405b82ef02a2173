// The clocks on the page: one ticker for all of them.

import { h, s } from "./dom.js";
import { store } from "./store.js";
import { clock } from "./words.js";

const ROUND = 2 * Math.PI * 27;
const watched = new Set();

export function ring(question) {
  const run = s("circle", { class: "run", cx: 31, cy: 31, r: 27, "stroke-dasharray": ROUND });
  const text = h("span", {});
  const face = h("div", { class: "ring", role: "timer", "aria-label": "time left to answer" },
    s("svg", { viewBox: "0 0 62 62", "aria-hidden": "true" }, s("circle", { cx: 31, cy: 31, r: 27 }), run), text);
  return watch(face, question, (left, whole) => {
    text.textContent = left === null ? "–" : clock(left);
    run.setAttribute("stroke-dashoffset", left === null ? 0 : ROUND * (1 - Math.max(0, left / whole)));
    face.classList.toggle("soon", left !== null && left < whole / 3);
    face.classList.toggle("late", left !== null && left < Math.min(20, whole / 5));
  });
}

export function left(question) {
  const text = h("span", { class: "left" });
  return watch(text, question, (seconds) => {
    text.textContent = seconds === null ? "" : clock(seconds);
    text.classList.toggle("late", seconds !== null && seconds < 20);
  });
}

function watch(element, question, draw) {
  const entry = { element, tick: () => draw(question.until ? question.until - store.steady : null, question.timeout || 300) };
  entry.tick();
  watched.add(entry);
  return element;
}

setInterval(() => {
  for (const entry of watched) entry.element.isConnected ? entry.tick() : watched.delete(entry);
}, 250);
