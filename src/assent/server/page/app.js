// Starts the page: sign-in, the event stream, the views, the keys.

import { get, key, onSignedOut, remove } from "./api.js";
import { $, h, icon, put, toast } from "./dom.js";
import { Inbox } from "./inbox.js";
import { startNotifying } from "./notify.js";
import { Shared } from "./shared.js";
import { signIn } from "./signin.js";
import { store } from "./store.js";
import { VIEWS } from "./views.js";
import { DENIALS, SCOPES, headline, prose, runtime } from "./words.js";

const NAMES = VIEWS.map(({ name }) => name);
const LINKS = { on: "connected", wait: "connecting", off: "not connected: trying again" };
const LOOK_AGAIN = 60_000; // milliseconds between checks for folders without a hook
let views = null, view = null, stream = null;

function start() {
  if (!views) {
    const root = $("view");
    $("tabs").replaceWith(...VIEWS.map(({ name, title, icon: path }) => h("a", { class: "tab", href: `#${name}`, "data-view": name }, icon(path), h("span", {}, title), name === "inbox" ? h("b", { class: "count", id: "count", hidden: true }) : null)));
    views = Object.fromEntries(VIEWS.map(({ name, View }) => [name, new View(root)]));
    Inbox.current = views.inbox;
    startNotifying((id) => { location.hash = "inbox"; views.inbox.select(id); });
    store.on("questions", count);
    store.on("signed-in", stranger);
    store.on("asked", (question) => { $("news").textContent = `${runtime(question.call.runtime)} asks: ${headline(question.call.tool, question.call.input, 100)}`; });
    addEventListener("hashchange", route);
    addEventListener("keydown", keys);
    setInterval(unguarded, LOOK_AGAIN);
  }
  $("app").hidden = false;
  unguarded();
  stream?.stop();
  stream = new Shared((name, data) => store.take(name, data), (state) => {
    $("link").dataset.state = state;
    $("link").lastElementChild.textContent = LINKS[state];
    if (state !== "wait") $("cut").hidden = state !== "off";
  }, () => store.events());
  route();
}

function count() {
  const waiting = store.waiting.length;
  $("count").hidden = waiting === 0;
  $("count").textContent = waiting > 99 ? "99+" : String(waiting);
  document.title = waiting ? `(${waiting}) Assent` : "Assent";
}

// Projects that switch a hook off are named above every view: their calls do not reach this page.
async function unguarded() {
  if ($("app").hidden || document.hidden) return;
  const { folders } = await get("/v1/unguarded").catch(() => ({ folders: null }));
  if (!folders) return;
  $("unguarded").hidden = folders.length === 0;
  put($("unguarded"), folders.map((each) => h("p", {}, h("b", {}, `${runtime(each.runtime)} is not guarded. `), prose(`\`${each.file}\`: ${each.what}. \`assent doctor ${each.runtime}\` says what to do.`))));
}

function route() {
  const name = NAMES.includes(location.hash.slice(1)) ? location.hash.slice(1) : "inbox";
  const next = views[name];
  if (view !== next) view?.leave?.();
  view = next;
  for (const tab of document.querySelectorAll(".tab")) tab.dataset.view === name ? tab.setAttribute("aria-current", "page") : tab.removeAttribute("aria-current");
  view.enter();
}

function keys(event) {
  if ($("app").hidden || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || $("keys").open) return;
  const typing = event.target.closest?.("input:not([type=radio]), textarea, select");
  if (typing || event.repeat) return;
  if (event.key === "?") { help(); event.preventDefault(); return; }
  if (NAMES[Number(event.key) - 1] && !(view === views.inbox && view.answers?.open)) { location.hash = NAMES[Number(event.key) - 1]; event.preventDefault(); return; }
  if (event.key === "/") { const search = $("view").querySelector("input[type=search]"); if (search) { search.focus(); event.preventDefault(); } return; }
  if ((event.key === "Enter" || event.key === " ") && event.target.closest("button, a, summary")) return;
  if (view?.key?.(event)) event.preventDefault();
}

function help() {
  const rows = [...Object.values(SCOPES).map(({ key, offer }) => [key.toUpperCase(), offer]), ...Object.values(DENIALS).map(([key, offer]) => [key.toUpperCase(), offer]), ["D", "receipt and raw input"], ["J K", "next, previous question"], [`1–${NAMES.length}`, NAMES.join(", ")], ["/", "search"], ["Esc", "back"]];
  const dialog = $("keys");
  put(dialog, h("h2", {}, "Keys"), h("dl", {}, rows.map(([name, what]) => [h("dt", {}, name.split(" ").map((each) => h("kbd", {}, each))), h("dd", {}, what)])), h("button", { type: "button", on: { click: () => dialog.close() } }, "Close"));
  dialog.showModal();
}

// Every sign-in is shown: whoever is here can sign everybody out.
function stranger() {
  const everyone = h("button", { type: "button", on: { click: async () => { await remove("/v1/session?all=1").catch(() => {}); key.drop(); location.reload(); } } }, "It was not me: sign everyone out");
  toast(["Somebody signed in on another page just now. ", everyone], true);
}

async function open() {
  try {
    const session = await get("/v1/session");
    session.signed_in ? start() : signIn(start);
  } catch (error) {
    toast(error.message, true);
    setTimeout(open, 3000);
  }
}

onSignedOut(() => { key.drop(); stream?.stop(); signIn(start); });
$("help").addEventListener("click", help);
$("out").addEventListener("click", async () => {
  stream?.stop();
  await remove("/v1/session").catch(() => {});
  key.drop();
  location.reload();
});
addEventListener("storage", (event) => { if (event.key === "assent.key") location.reload(); }); // another tab signed in or out
open();
