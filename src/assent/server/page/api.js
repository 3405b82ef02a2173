// Talks to the server. The session's key is sent in a header, never in an address.

const KEY = "assent.key";

export class Refused extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export const key = {
  get: () => localStorage.getItem(KEY) ?? "",
  set: (value) => localStorage.setItem(KEY, value),
  drop: () => localStorage.removeItem(KEY),
};

export let signedOut = () => {};
export const onSignedOut = (action) => { signedOut = action; };

export async function request(method, path, body) {
  const headers = { "Assent-Key": key.get() };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), cache: "no-store", redirect: "error" });
  } catch {
    throw new Refused(0, "unreachable", "the server does not answer; start it with `assent serve`, then try again");
  }
  const found = await answer.json().catch(() => ({}));
  if (answer.ok) return found;
  if (answer.status === 401 && path !== "/v1/session") signedOut();
  const error = found.error ?? {};
  throw new Refused(answer.status, error.code ?? "failed", error.message ?? `the server said ${answer.status}`);
}

export const get = (path, query) => {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== "" && value !== undefined && value !== null);
  return request("GET", given.length ? `${path}?${new URLSearchParams(given)}` : path);
};
export const post = (path, body) => request("POST", path, body ?? {});
export const remove = (path) => request("DELETE", path);
