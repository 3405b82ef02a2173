// A unified diff side by side; one column on narrow screens.

import { h } from "./dom.js";
import { shown } from "./words.js";

export const MOST = 2000; // lines drawn at first

export const lines = (text) => { let count = 1; for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count += 1; return count; };

export function parse(text) {
  const hunks = [];
  let hunk = null, old = 1, fresh = 1;
  for (const line of String(text).split("\n")) {
    const start = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/.exec(line);
    if (start) {
      old = Number(start[1]); fresh = Number(start[2]);
      hunk = { title: line, rows: [] };
      hunks.push(hunk);
      continue;
    }
    if (!hunk) {
      if (!line) continue;
      hunk = { title: "", rows: [] };
      hunks.push(hunk);
    }
    // Every line is shown, also one that only looks like the head of a file: the text may be an agent's own patch.
    const head = !hunk.title && /^(---|\+\+\+) /.test(line);
    if (head) hunk.rows.push({ kind: "same", text: line });
    else if (line.startsWith("+")) hunk.rows.push({ kind: "add", text: line.slice(1), fresh: fresh++ });
    else if (line.startsWith("-")) hunk.rows.push({ kind: "del", text: line.slice(1), old: old++ });
    else if (line.startsWith(" ")) hunk.rows.push({ kind: "same", text: line.slice(1), old: old++, fresh: fresh++ });
    else if (line) hunk.rows.push({ kind: "same", text: line });
  }
  return hunks;
}

// The hunks with as many lines as are drawn.
function drawn(hunks, most) {
  let room = most;
  const out = hunks.map((hunk) => {
    const rows = hunk.rows.slice(0, room);
    room -= rows.length;
    return { ...hunk, rows };
  });
  return out.filter((hunk) => hunk.rows.length);
}

export function stat(hunks) {
  const rows = hunks.flatMap((each) => each.rows);
  return { add: rows.filter((each) => each.kind === "add").length, del: rows.filter((each) => each.kind === "del").length };
}

// Pairs of removed and added lines.
function paired(rows) {
  const out = [];
  for (let at = 0; at < rows.length;) {
    if (rows[at].kind === "same") { out.push([rows[at], rows[at]]); at += 1; continue; }
    const gone = [], come = [];
    while (at < rows.length && rows[at].kind === "del") gone.push(rows[at++]);
    while (at < rows.length && rows[at].kind === "add") come.push(rows[at++]);
    for (let row = 0; row < Math.max(gone.length, come.length); row += 1) out.push([gone[row] ?? null, come[row] ?? null]);
  }
  return out;
}

// The middle of a line that differs from its counterpart is marked.
function marked(text, other) {
  if (other === null || other === undefined || text === other) return shown(text);
  let head = 0, tail = 0;
  const most = Math.min(text.length, other.length);
  while (head < most && text[head] === other[head]) head += 1;
  while (tail < most - head && text[text.length - 1 - tail] === other[other.length - 1 - tail]) tail += 1;
  if (head + tail === 0 || head + tail < most / 4) return shown(text);
  return [shown(text.slice(0, head)), h("mark", {}, shown(text.slice(head, text.length - tail))), shown(text.slice(text.length - tail))];
}

const cell = (row, side, other) => row === null
  ? [h("td", { class: `n none ${side}` }), h("td", { class: `none ${side}` })]
  : [h("td", { class: `n ${row.kind} ${side}` }, String((side === "right" ? row.fresh : row.old) ?? "")), h("td", { class: `${row.kind} ${side}` }, marked(row.text, row.kind === "same" ? null : other?.text))];

function sideBySide(hunks) {
  const body = hunks.map((hunk) => [
    hunk.title ? h("tr", { class: "hunk" }, h("td", { colspan: 4 }, shown(hunk.title))) : null,
    paired(hunk.rows).map(([gone, come]) => h("tr", {}, cell(gone, "", come), cell(come, "right", gone))),
  ]);
  return h("table", {}, h("colgroup", {}, h("col", { class: "n" }), h("col", {}), h("col", { class: "n" }), h("col", {})), h("tbody", {}, body));
}

function oneColumn(hunks) {
  const sign = { add: "+", del: "−", same: " " };
  const body = hunks.map((hunk) => [
    hunk.title ? h("tr", { class: "hunk" }, h("td", { colspan: 2 }, shown(hunk.title))) : null,
    hunk.rows.map((row) => h("tr", {}, h("td", { class: `n ${row.kind}` }, String(row.fresh ?? row.old ?? "")), h("td", { class: row.kind }, sign[row.kind], " ", shown(row.text)))),
  ]);
  return h("table", {}, h("colgroup", {}, h("col", { class: "n" }), h("col", {})), h("tbody", {}, body));
}

export function diff(whole, most = MOST) {
  const hunks = drawn(whole, most);
  const added = hunks.every((hunk) => hunk.rows.every((row) => row.kind === "add"));
  return h("div", { class: "diff", tabindex: 0, role: "region", "aria-label": "the change" }, added || matchMedia("(max-width: 860px)").matches ? oneColumn(hunks) : sideBySide(hunks));
}
