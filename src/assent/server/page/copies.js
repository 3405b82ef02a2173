// Copies of what calls destroyed: lists them, previews putting one back, puts it back.

import { get, post } from "./api.js";
import { h, put, toast } from "./dom.js";
import { clip, count, plural, shown, stamp, visible } from "./words.js";

const FEW = 5; // copies that are shown at first
const AFTER = 1500; // milliseconds after an answer until its copy is there

export class Copies {
  constructor() {
    this.element = h("section", { class: "copies", "aria-label": "what can be put back" });
    this.all = false;
  }

  async load() {
    try {
      const found = await get("/v1/undo");
      this.show(found.copies);
    } catch (error) {
      put(this.element, h("p", { class: "error" }, error.message));
    }
  }

  show(copies) {
    const some = this.all ? copies : copies.slice(0, FEW);
    const more = copies.length - some.length;
    put(this.element, copies.length ? [
      h("h2", {}, "Can be put back"),
      h("ol", { class: "stream" }, some.map((each) => this.row(each))),
      more ? h("button", { type: "button", on: { click: () => { this.all = true; this.show(copies); } } }, `Show ${count(more)} more`) : null,
    ] : null);
  }

  row(copy) {
    const body = h("div", { class: "copy-body" });
    const open = (event) => { if (event.currentTarget.open && !body.firstChild) this.differ(copy, body); };
    const what = copy.undoes ? "replaced by an undo" : clip(copy.call, 160);
    return h("li", {}, h("details", { class: "entry copy", on: { toggle: open } },
      h("summary", {}, h("time", { title: new Date(copy.time * 1000).toISOString() }, stamp(copy.time)),
        h("span", { class: "what mono" }, what),
        h("span", { class: "from" }, `${plural(copy.count, "path")}, ${bytes(copy.size)}`)), body));
  }

  async differ(copy, body) {
    put(body, h("p", { class: "soft" }, "comparing…"));
    try {
      const found = await get(`/v1/undo/${encodeURIComponent(copy.id)}`);
      const back = h("button", { type: "button", class: "primary", on: { click: () => this.back(copy, back) } }, "Put back");
      put(body, h("p", { class: "small soft" }, [copy.folder ? ["in ", h("span", { class: "mono" }, shown(copy.folder))] : null, copy.session ? [", session ", h("span", { class: "mono" }, shown(clip(copy.session, 40)))] : null]),
        found.differences.length
          ? [h("pre", { class: "differences" }, found.differences.map(line)), found.more ? h("p", { class: "small soft" }, "… and more") : null,
            h("div", { class: "row" }, back, h("span", { class: "small soft" }, "What it replaces is kept too, and can be put back itself."))]
          : h("p", { class: "soft" }, "Nothing to put back: the files are unchanged."));
    } catch (error) {
      put(body, h("p", { class: "error" }, error.message));
    }
  }

  async back(copy, button) {
    button.disabled = true;
    if (await putBack(copy.id)) this.load();
    button.disabled = false;
  }
}

function line(text) {
  const kind = /^(\+\+\+|---|@@)/.test(text) ? "place" : text.startsWith("+") ? "add" : text.startsWith("-") ? "del" : "";
  return h("span", { class: kind }, [...shown(text), "\n"]);
}

export function bytes(size) {
  const units = ["bytes", "kB", "MB", "GB"];
  let number = size;
  while (number >= 1000 && units.length > 1) { number /= 1000; units.shift(); }
  return units[0] === "bytes" ? plural(size, "byte") : `${number.toFixed(1)} ${units[0]}`;
}

async function putBack(id) {
  try {
    const done = await post(`/v1/undo/${encodeURIComponent(id)}`);
    toast(done.note || "Put back. What that replaced is kept too.", Boolean(done.note));
    return true;
  } catch (error) {
    toast(error.message, true);
    return false;
  }
}

// After a yes: say that the call can be undone, if a copy was kept for it.
export function offerUndo(id) {
  setTimeout(async () => {
    const found = await get("/v1/undo").catch(() => ({ copies: [] }));
    const copy = found.copies.find((each) => each.id === id);
    if (!copy) return;
    const undo = h("button", { type: "button", on: { click: async (event) => { event.currentTarget.disabled = true; if (await putBack(id)) undo.parentElement?.remove(); } } }, "Undo");
    toast([`${visible(plural(copy.count, "path"))} copied before it runs. `, undo], false, 12000);
  }, AFTER);
}
