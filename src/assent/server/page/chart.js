// Bars over time, as SVG made by hand.

import { h, s } from "./dom.js";
import { OUTCOMES, count, stamp } from "./words.js";

const DECISIONS = Object.fromEntries(Object.entries(OUTCOMES).map(([name, { done }]) => [name, done]));
const ANSWERS = { yes: "allowed by a person", no: "denied by a person", none: "without an answer" };
const WIDE = 720, HIGH = 150, FOOT = 24;

const has = (series, kinds) => series.some((each) => Object.keys(kinds).some((kind) => each[kind]));

// Decisions, and below them answers, if there are any; null if nothing was decided.
export function charts(series) {
  const found = [["Decisions", DECISIONS], ["Answers", ANSWERS]].filter(([, kinds]) => has(series, kinds));
  return found.length ? h("div", { class: "charts" }, found.map(([title, kinds]) => bars(title, kinds, series))) : null;
}

function bars(title, kinds, series) {
  const KINDS = Object.keys(kinds);
  const highest = Math.max(1, ...series.map((each) => KINDS.reduce((sum, kind) => sum + each[kind], 0)));
  const step = WIDE / Math.max(1, series.length), width = Math.max(1.5, step - Math.min(3, step * 0.25));
  const drawn = series.map((each, at) => {
    let top = HIGH;
    const whole = KINDS.map((kind) => {
      const height = (each[kind] / highest) * (HIGH - 8);
      top -= height;
      return height ? s("rect", { class: `bar-${kind}`, x: at * step, y: top, width, height: Math.max(height, 1.2), rx: 1.5 }) : null;
    });
    return s("g", {}, s("title", {}, `${stamp(each.at)}: ${KINDS.map((kind) => `${count(each[kind])} ${kinds[kind]}`).join(", ")}`), s("rect", { class: "bar-hit", x: at * step, y: 0, width: step, height: HIGH }), whole);
  });
  const ticks = [0, Math.floor(series.length / 2), series.length - 1].filter((at, place, all) => series[at] && all.indexOf(at) === place);
  return h("figure", { class: "chart" }, h("h3", {}, `${title} over time`),
    s("svg", { viewBox: `0 0 ${WIDE} ${HIGH + FOOT}`, role: "img", "aria-label": `${title.toLowerCase()} over time` }, s("line", { class: "bar-base", x1: 0, x2: WIDE, y1: HIGH, y2: HIGH }), drawn,
      ticks.map((at, place) => s("text", { x: at * step + (place === 2 ? width : 0), y: HIGH + 18, "text-anchor": place === 2 ? "end" : place === 1 && ticks.length > 2 ? "middle" : "start" }, at === series.length - 1 && at > 0 ? "now" : stamp(series[at].at)))),
    h("figcaption", {}, KINDS.map((kind) => h("span", { class: `key-${kind}` }, kinds[kind]))));
}
