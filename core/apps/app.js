// What a page of a plugin needs to act for a user: log in, and call the API with the token
// that comes of it. The token is in memory and ends with the page, which in a sandbox has no
// other place for it.

let token = "";

/** The address of the app, and that of the API. */
export const base = new URL(here.base + "/", location.href).href;
export const site = here.site;

// back is what the login has left behind the #, once.
async function back() {
  const told = new URLSearchParams(location.hash.slice(1));
  const wrong = told.get("error");
  if (!told.has("code") && !wrong) return false;
  history.replaceState(history.state, "", location.pathname + location.search);
  if (wrong) throw new Error(told.get("error_description") || wrong);
  const answer = await fetch(here.site + here.token, {
    method: "POST", credentials: "omit", body: new URLSearchParams({ ...Object.fromEntries(told), grant_type: "authorization_code" }),
  });
  const got = await answer.json();
  if (!answer.ok) throw new Error(got.error_description || got.error || got.message);
  token = got.access_token;
  return true;
}

/** Whether somebody has let the app in, known once the page is there. It fails with what went wrong. */
export const ready = back();
ready.catch(() => {}); // who waits for it is told

/** Has the user asked; they come back to the address to, within the app, or to this page. */
export function login({ scope = "openid", to = "/" + location.href.split("#")[0].slice(base.length) } = {}) {
  location.assign(base + "-/login?" + new URLSearchParams({ scope, to }));
}

/** Forgets who was logged in. */
export function logout() { token = ""; }

/** Asks the API, or with an address below base the plugin itself, as whoever is logged in. */
export async function call(path, { method = "GET", args } = {}) {
  const headers = token ? { Authorization: "Bearer " + token } : {};
  if (args !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(new URL(path, here.site + "/"), {
    method, headers, credentials: "omit", body: args === undefined ? undefined : JSON.stringify(args),
  });
  const got = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(got.message || answer.statusText), { status: answer.status, type: got.exc_type });
  return got.data ?? got.message;
}
