// Asks for reports: points first, then with intervals. Follows a study while people answer in it.
import { api } from "./common.js";

const POLL_MS = 5000, POLL_AFTER_TROUBLE_MS = 15000;
const PATIENCE_MS = 10 * 60000; // many draws over a large study take long
const REST = 5; // a report that took a second is made again after five at the earliest
const QUIET_MS = 700; // an answer that "nothing is new" comes sooner

// ``query(draws)``: what to ask, as URLSearchParams; without draws as many as are wanted. Calls back:
// show(answer, {final, fresh}), busy(text or ""), problem(error), trouble(sentence or ""), news(answers since).
export function follow({ query, draws, following, show, busy, problem, trouble, news }) {
  let round = 0, stamp = null, answered = null, accepting = false, took = 0, timer = 0, due = 0, giveUp = new AbortController();

  const ask = (params, options) => api("GET", `analysis/report?${params}`, undefined, { patience: PATIENCE_MS, signal: giveUp.signal, ...options });
  const announce = (number) => (number ? `${number.toLocaleString("en")} draws…` : "Counting…");

  function take(answer, final, fresh) {
    const now = answer.about?.answered ?? null;
    if (!fresh && answered !== null && now > answered) news(now - answered);
    answered = now;
    ({ accepting } = answer);
    if (final) ({ stamp } = answer);
    show(answer, { final, fresh });
  }

  // What was asked before is not waited for, and its answer is not shown.
  async function load() {
    const mine = ++round, wanted = Number(draws());
    giveUp.abort();
    giveUp = new AbortController();
    clearTimeout(timer);
    stamp = null;
    answered = null;
    let counted = false;
    try {
      busy("Counting…");
      const points = await ask(query(0));
      if (mine !== round) return;
      take(points, !wanted, true);
      counted = true;
      if (wanted) {
        busy(announce(wanted));
        const began = Date.now(), full = await ask(query());
        if (mine !== round) return;
        took = Date.now() - began;
        take(full, true, false);
      }
      trouble("");
    } catch (error) {
      if (mine === round && counted) trouble(`${error.message} There are no intervals yet: reload the page to ask for them again.`);
      else if (mine === round) problem(error);
    }
    if (mine !== round) return;
    busy("");
    plan(POLL_MS);
  }

  function plan(wait) {
    clearTimeout(timer);
    due = Date.now() + Math.max(wait, REST * took);
    timer = setTimeout(poll, due - Date.now());
  }

  // In the background: nobody is asked to sign in, and what is shown stays until there is something newer.
  async function poll() {
    if (document.hidden || stamp === null || !following() || !accepting) return;
    due = Infinity; // one at a time
    const mine = round, params = query();
    params.set("since", stamp);
    const waiting = setTimeout(() => { if (mine === round) busy(announce(Number(draws()))); }, QUIET_MS);
    const began = Date.now();
    let wait = POLL_MS;
    try {
      const answer = await ask(params, { ask: false });
      if (mine !== round) return;
      trouble("");
      if (!answer.unchanged) {
        took = Date.now() - began;
        take(answer, true, false);
      }
    } catch (error) {
      if (mine !== round) return;
      wait = POLL_AFTER_TROUBLE_MS;
      trouble(`${error.message} Asked again every ${wait / 1000} seconds.`);
    } finally {
      clearTimeout(waiting);
      if (mine === round) busy("");
    }
    plan(wait);
  }

  const look = () => { if (!document.hidden && stamp !== null && Date.now() >= due) poll(); };
  document.addEventListener("visibilitychange", look);
  return {
    load,
    poll: () => { clearTimeout(timer); return poll(); },
    get live() { return accepting; },
    leave() {
      round += 1;
      giveUp.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", look);
    },
  };
}
