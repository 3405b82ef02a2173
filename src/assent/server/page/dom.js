// Elements from data. Text goes in as text nodes only: nothing here parses markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [event, action] of Object.entries(value)) element.addEventListener(event, action);
    else if (name === "value") element.value = value;
    else if (name === "checked") element.checked = true;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== false));
  return element;
}

export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
export const $ = (id) => document.getElementById(id);

export function put(parent, ...children) {
  parent.replaceChildren(...children.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== false));
}

export function icon(path, box = 24) {
  return s("svg", { viewBox: `0 0 ${box} ${box}`, "aria-hidden": "true" }, s("path", { d: path }));
}

export function toast(text, bad = false, milliseconds = bad ? 12000 : 4500) {
  const element = h("div", { class: bad ? "toast bad" : "toast" }, text);
  $("toasts").append(element);
  setTimeout(() => element.remove(), milliseconds);
}

export function empty(path, title, ...more) {
  return h("div", { class: "empty" }, icon(path, 64), h("strong", {}, title), more);
}
