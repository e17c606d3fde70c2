// Signing out. What keeps it from being done is said: somebody else may sit here next.
import { ApiProblem, api } from "./calls.js";
import { tell } from "./dialogs.js";
import { at } from "./elements.js";

let leaving = /** @type {Promise<unknown> | null} */ (null);
export const leave = () => (leaving ??= go().finally(() => { leaving = null; }));

async function go() {
  try {
    await api("POST", "sign-out", {}, { ask: false });
  } catch (problem) {
    if (!(problem instanceof ApiProblem)) throw problem;
    // 401: signed out already is as good. "left-here": this browser is, and the server is not.
    if (problem.kind === "left-here") await tell("Signed out here only", problem.message, "Sign in again");
    else if (problem.status !== 401) return tell("Not signed out", `${problem.message} You are still signed in here: try again.`, "Close");
  }
  window.location.assign(at("sign-in"));
}
