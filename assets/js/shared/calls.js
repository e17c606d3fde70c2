// Calls to the server: JSON both ways, one kind of error, and a sign-in in between if needed.
import { signIn } from "./dialogs.js";
import { at } from "./elements.js";
import { until } from "./rest.js";
import { t, told } from "./language.js";

const PATIENCE_MS = 30000;
let opener = ""; // whom the page was opened for

// kind: "incomplete", "not-yours", "closed", "token", "unknown", "signed-out", "forbidden", "storage",
// "left-here" (after signing out), "other" (said by the server), or "away" (status 0: no answer came).
export class ApiProblem extends Error {
  constructor(/** @type {number} */ status, /** @type {string} */ problem, /** @type {string} */ kind) {
    super(problem);
    this.status = status;
    this.problem = problem;
    this.kind = kind;
  }
}

/** What went wrong, in a sentence. @param {unknown} error */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error));

// From now on every call says whom the page was opened for. Should somebody else have signed in since, in
// another tab, the server refuses: nothing is shown or kept as theirs.
export const openedBy = (/** @type {string} */ name) => { opener = name; };

// api("GET", "study/mine"), api("POST", "study/save", {…}). Answers the JSON; throws ApiProblem.
// Where the sign-in has ended it asks for it and calls again; ``ask: false`` throws instead, for
// calls in the background. ``keepalive`` outlives the page. ``patience``: milliseconds until nobody waits for
// an answer any more; ``signal`` gives up earlier, and throws the signal's own error. ``news``: the page looks for
// what others have done, and is at rest meanwhile.
/**
 * @template {string} Path
 * @param {"GET" | "POST"} method
 * @param {Path} path
 * @param {object} [body]
 * @param {CallOptions} [options]
 * @returns {Promise<AnswerOf<Path>>}
 */
export async function api(method, path, body, { ask = true, keepalive = false, patience = PATIENCE_MS, signal = null, news = false } = {}) {
  for (;;) {
    try {
      const answer = once(method, path, body, { keepalive, patience, signal });
      return await (news ? answer : until(answer));
    } catch (problem) {
      if (!(problem instanceof ApiProblem) || problem.status !== 401 || !ask || !(await signIn())) throw problem;
    }
  }
}

/** @param {string} method @param {string} path @param {object | undefined} body @param {Required<Omit<CallOptions, "ask" | "news">>} options */
async function once(method, path, body, { keepalive, patience, signal }) {
  const headers = { Accept: "application/json", ...(method === "GET" ? {} : { "Content-Type": "application/json" }),
    ...(opener && { "X-Cirque-Person": encodeURIComponent(opener) }) };
  const giveUp = new AbortController();
  const stop = () => giveUp.abort();
  const timer = setTimeout(stop, patience);
  signal?.addEventListener("abort", stop);
  let answer, read;
  try {
    answer = await fetch(at(path), { method, headers, keepalive, credentials: "same-origin", cache: "no-store",
      redirect: "manual", signal: giveUp.signal, body: method === "GET" ? undefined : JSON.stringify(body ?? {}) });
    read = await answer.text();
  } catch {
    signal?.throwIfAborted();
    throw new ApiProblem(0, t("The server does not answer."), "away");
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
  if (answer.type === "opaqueredirect") throw new ApiProblem(401, t("Your sign-in has expired."), "signed-out");
  let value = null;
  try {
    value = JSON.parse(read);
  } catch { /* a proxy in between says so in HTML */ }
  if (answer.ok && value !== null) return value;
  if (value === null && (answer.ok || answer.status >= 502)) throw new ApiProblem(0, t("The server does not answer."), "away");
  throw new ApiProblem(answer.status, value?.problem ? told(value.problem) : t("The server answered {status}. Try again.", { status: answer.status }),
    value?.kind || (answer.status === 401 ? "signed-out" : "other"));
}
