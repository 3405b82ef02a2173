// Desktop notifications while the tab is hidden. Asked for on a click, never by itself.

import { $ } from "./dom.js";
import { store } from "./store.js";
import { folder, headline, runtime } from "./words.js";

export function startNotifying(show) {
  const button = $("notify");
  const can = "Notification" in window;
  const update = () => { button.hidden = !can || Notification.permission !== "default"; };
  update();
  button.addEventListener("click", async () => { await Notification.requestPermission(); update(); });
  const open = new Map();
  store.on("asked", (question) => {
    if (!can || Notification.permission !== "granted" || !document.hidden) return;
    const note = new Notification(`${runtime(question.call.runtime)} asks in ${folder(question.project || question.call.cwd)}`, { body: headline(question.call.tool, question.call.input, 140), tag: question.id, icon: "/page/icon.svg" });
    note.onclick = () => { window.focus(); show(question.id); note.close(); };
    open.set(question.id, note);
  });
  store.on("over", (question) => { open.get(question.id)?.close(); open.delete(question.id); });
}
