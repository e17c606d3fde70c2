// Asks for reports: points first, then with intervals. Follows a study while people answer in it.
import { ApiProblem, api, messageOf } from "../shared/calls.js";

const POLL_MS = 5000, CLOSED_MS = 30000; // a closed study may be opened again
const AGAIN_MS = 15000; // where no answer came
const PATIENCE_MS = 10 * 60000; // many draws over a large study take long
const REST = 5; // a report that took a second is made again after five at the earliest
const REST_MOST_MS = 60000; // a computer that slept while a report was made seems to have taken hours
const QUIET_MS = 700; // an answer that "no changes" comes sooner

// Whether the same may work a moment later: nobody answered, or not as they should.
/** @param {unknown} problem */
export const passing = (problem) => problem instanceof ApiProblem && (["away", "storage"].includes(problem.kind) || problem.status >= 500);
const unknown = (/** @type {unknown} */ problem) => problem instanceof ApiProblem && problem.kind === "unknown";
export const AGAIN = `Retrying every ${AGAIN_MS / 1000} seconds.`;

// ``query(draws)``: what to ask, as URLSearchParams; without draws as many as are wanted. Calls back:
// show(answer, {final, fresh}), busy(text or ""), problem(error), trouble(sentence or ""), news(answers since),
// gone(error) once the study is no longer there: nothing is asked any more then.
/**
 * @param {{ query(draws?: number): URLSearchParams, draws(): string, following(): boolean, show(answer: Report, how: { final: boolean, fresh: boolean }): void,
 *   busy(text: string): void, problem(error: unknown): void, trouble(text: string): void, news(number: number): void, gone(error: unknown): void }} of
 */
export function follow({ query, draws, following, show, busy, problem, trouble, news, gone }) {
  let round = 0, accepting = false, took = 0, timer = 0, due = 0, next = /** @type {() => unknown} */ (poll), giveUp = new AbortController();
  let stamp = /** @type {string | null} */ (null), answered = /** @type {number | null} */ (null);
  let left = false, lost = /** @type {unknown} */ (null);

  /** @type {(params: URLSearchParams, options?: CallOptions) => Promise<AnswerOf<"analysis/report">>} */
  const ask = (params, options) => api("GET", `analysis/report?${params}`, undefined, { patience: PATIENCE_MS, signal: giveUp.signal, ...options });
  const announce = (/** @type {number} */ number) => (number ? `${number.toLocaleString("en")} draws…` : "Computing…");

  function take(/** @type {Report} */ answer, /** @type {boolean} */ final, /** @type {boolean} */ fresh) {
    const now = answer.about?.answered ?? null;
    if (!fresh && answered !== null && now !== null && now > answered) news(now - answered);
    answered = now;
    ({ accepting } = answer);
    if (final) ({ stamp } = answer);
    show(answer, { final, fresh });
  }

  function stop(/** @type {unknown} */ error) {
    lost = error;
    round += 1;
    clearTimeout(timer);
    busy("");
    gone(error);
  }

  // What was asked before is not waited for, and its answer is not shown.
  async function load() {
    if (left) return;
    if (lost) return stop(lost);
    const mine = ++round, wanted = Number(draws());
    giveUp.abort();
    giveUp = new AbortController();
    clearTimeout(timer);
    stamp = null;
    answered = null;
    due = Infinity;
    let counted = false, failed = /** @type {unknown} */ (null);
    try {
      busy("Computing…");
      const points = /** @type {Report} */ (await ask(query(0)));
      if (mine !== round) return;
      take(points, !wanted, true);
      counted = true;
      if (wanted) {
        busy(announce(wanted));
        const began = Date.now(), full = /** @type {Report} */ (await ask(query()));
        if (mine !== round) return;
        took = Date.now() - began;
        take(full, true, false);
      }
      trouble("");
    } catch (error) {
      failed = error;
    }
    if (mine !== round) return;
    if (unknown(failed)) return stop(failed);
    busy("");
    if (failed && counted) trouble(`${messageOf(failed)} There are no intervals yet.${passing(failed) ? ` ${AGAIN}` : ""}`);
    else if (failed) problem(failed);
    if (!failed) plan(poll);
    else if (passing(failed)) plan(load, AGAIN_MS);
  }

  /** @param {() => unknown} what @param {number} [wait] */
  function plan(what, wait = accepting ? POLL_MS : CLOSED_MS) {
    clearTimeout(timer);
    next = what;
    due = Date.now() + (what === poll ? Math.max(wait, Math.min(REST * took, REST_MOST_MS)) : wait);
    timer = setTimeout(look, due - Date.now());
  }

  // Nothing is asked for a page that nobody sees.
  function look() {
    if (!left && !lost && !document.hidden && Date.now() >= due - 50) next();
  }

  // In the background: nobody is asked to sign in, and what is shown stays until there is something newer.
  async function poll() {
    if (left || stamp === null || !following()) return;
    due = Infinity; // one at a time
    const mine = round, params = query();
    params.set("since", stamp);
    const waiting = setTimeout(() => { if (mine === round) busy(announce(Number(draws()))); }, QUIET_MS);
    const began = Date.now();
    let failed = /** @type {unknown} */ (null);
    try {
      const answer = await ask(params, { ask: false, news: true });
      if (mine !== round) return;
      trouble("");
      if (!answer.unchanged) {
        took = Date.now() - began;
        take(answer, true, false);
      }
    } catch (error) {
      failed = error;
    } finally {
      clearTimeout(waiting);
    }
    if (mine !== round) return;
    if (unknown(failed)) return stop(failed);
    busy("");
    if (failed) trouble(`${messageOf(failed)} ${AGAIN}`);
    plan(poll, failed ? AGAIN_MS : undefined);
  }

  document.addEventListener("visibilitychange", look);
  return {
    load,
    // Somebody wants to follow from now on.
    poll() {
      if (next === poll && due !== Infinity) return poll();
    },
    leave() {
      left = true;
      round += 1;
      giveUp.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", look);
    },
  };
}
