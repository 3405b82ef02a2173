// Signing in with the one-time code.

import { key, post } from "./api.js";
import { $, h, put, s } from "./dom.js";

export function signIn(done) {
  const problem = h("p", { class: "error small", role: "alert" });
  const code = h("input", { id: "code", name: "code", autocomplete: "one-time-code", autocapitalize: "characters", spellcheck: "false", maxlength: 12, placeholder: "XXXX-XXXX", "aria-label": "one-time code" });
  const button = h("button", { type: "submit", class: "primary" }, "Sign in");
  const submit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    put(problem);
    try {
      const session = await post("/v1/session", { code: code.value });
      key.set(session.key);
      $("sign-in").hidden = true;
      done(session);
    } catch (error) {
      put(problem, error.message);
      code.select();
    } finally {
      button.disabled = false;
    }
  };
  put($("sign-in"), h("div", { class: "sign-in-card" },
    s("svg", { class: "seal", viewBox: "0 0 32 32", "aria-hidden": "true" }, s("rect", { class: "brand-seal", x: 2, y: 2, width: 28, height: 28, rx: 9 }), s("path", { class: "brand-check", d: "M9.500 16.600l4.400 4.400 8.800-9.600" })),
    h("div", {}, h("h1", {}, "Sign in to Assent"), h("p", { class: "soft" }, "Only people answer here, never agents. So signing in takes a code that only you can see.")),
    h("form", { on: { submit } }, code, button, problem),
    h("ol", {}, h("li", {}, "Look at the terminal that runs ", h("code", {}, "assent serve"), "."), h("li", {}, "Is it in the background? Run ", h("code", {}, "assent sign-in"), "."), h("li", {}, "Type the code. It works once, for 10 minutes."))));
  $("app").hidden = true;
  $("sign-in").hidden = false;
  code.focus();
}
