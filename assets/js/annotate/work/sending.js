// Saving. An answer waits in this browser until the server has acknowledged it, so neither a
// server that is away nor a closed window loses it. Its token makes a repeated call harmless.
// Answers to several items wait in a row, in the order in which they were given.
import { api } from "../../shared/calls.js";
import { token } from "../../shared/elements.js";
import { keptByItem, sameItem } from "./kept.js";
import { t, tn } from "../../shared/language.js";
/** @import { ApiProblem } from "../../shared/calls.js" */

const FIRST_WAIT_MS = 1000, LONGEST_WAIT_MS = 10000;
const AGAIN = new Set(["away", "storage"]); // worth another try later
const LONG_MS = 60000; // without a connection

// By the study's id: it may have another name by the time the answer leaves.
/** @template A @param {Sent<A>} body @returns {Sent<A>} */
const named = ({ id, ...body }) => ({ ...body, study: id ?? body.study });

/** An answer that was not taken. @template A @typedef {ApiProblem & { sent: Sent<A> }} Refused */
/**
 * @template A
 * @typedef {{ body: Sent<A>, before: () => unknown, tried: boolean, replaced: boolean, resolve(told: Acknowledged<A>): void, reject(problem: unknown): void }} Press
 */
/** @template A @typedef {ReturnType<typeof createSending<A>>} Sending */
/**
 * @template A
 * @param {string} name whom the page was opened for: should somebody else have signed in, the server does not take the answer as theirs,
 * and it waits here for ``name``
 * @param {(what: { state: "saving" | "waiting" | "signed-out" | "", text: string, away?: boolean }) => void} says ``away`` where nobody answers, "" when done
 * @param {() => number | undefined} ahead how many of the next items to ask for, as an answer leaves
 */
export function createSending(name, says, ahead = () => undefined) {
  const unsent = /** @type {ReturnType<typeof keptByItem<Sent<A>>>} */ (keptByItem(`cirque.unsent.${name}`));
  const row = /** @type {Press<A>[]} */ ([]); // the first is on its way
  let running = false;
  let waits = false; // the first is not on its way: its next try comes later
  let since = /** @type {number | null} */ (null); // when nobody answered for the first time
  let wake = /** @type {(value?: unknown) => void} */ (() => {});
  /** @type {(ms?: number) => Promise<void>} */
  const pause = (ms) => new Promise((resolve) => {
    waits = true;
    wake = resolve;
    if (ms) setTimeout(resolve, ms);
  }).then(() => { waits = false; });

  const pressOf = (/** @type {Of} */ one) => row.find(({ body }) => sameItem(body, one));
  const forget = (/** @type {Sent<A>} */ body) => { if (unsent.at(body)?.token === body.token) unsent.drop(body); };
  const keptHere = () => tn(row.length, "Your answer is kept in this browser.", "{number} answers are kept in this browser.");
  function absence(/** @type {string} */ message) {
    const minutes = Math.floor((Date.now() - (since ?? Date.now())) / LONG_MS);
    if (!minutes) return `${message} ${tn(row.length, "Your answer is kept in this browser and is sent as soon as possible.", "{number} answers are kept in this browser and are sent as soon as possible.")}`;
    const long = minutes < 120 ? tn(minutes, "No connection for a minute.", "No connection for {number} minutes.") : t("No connection for {number} hours.", { number: Math.floor(minutes / 60) });
    return `${long} ${tn(row.length, "1 answer is not sent yet. It is kept in this browser, even if you close it, and sent later.",
      "{number} answers are not sent yet. They are kept in this browser, even if you close it, and sent later.")}`;
  }

  /** @param {Sent<A>} body @param {() => unknown} before it leaves once this is done @returns {Promise<Acknowledged<A>>} */
  function press(body, before) {
    unsent.put(body);
    return new Promise((resolve, reject) => {
      row.push({ body, before, tried: false, replaced: false, resolve, reject });
      wake();
      if (!running) run();
    });
  }

  async function run() {
    running = true;
    for (let wait = FIRST_WAIT_MS; row.length;) {
      const [first] = row;
      try {
        says({ state: "saving", text: "" });
        await first.before();
        const { body } = first; // as it is now: a later press may have taken its place
        const asked = row.length === 1 && body.then === "next" ? ahead() : undefined;
        const answer = /** @type {Pick<Acknowledged<A>, "saved" | "desk">} */ (await api("POST", "study/save", { ...named(body), ahead: asked }));
        wait = FIRST_WAIT_MS;
        since = null;
        if (first.body !== body) { // it was pressed again meanwhile, with another answer
          first.body = { ...first.body, seen_revision: answer.saved.revision };
          unsent.put(first.body);
          continue;
        }
        forget(body);
        row.shift();
        first.resolve({ ...answer, sent: body, replaced: first.replaced, asked: asked ?? 0 });
      } catch (error) {
        const problem = /** @type {ApiProblem} */ (error);
        first.tried = true;
        if (problem.kind === "signed-out") {
          says({ state: "signed-out", text: `${t("You are signed out.")} ${keptHere()}` });
          await pause();
        } else if (AGAIN.has(problem.kind)) {
          const away = problem.kind === "away";
          since = away ? since ?? Date.now() : null;
          says({ state: "waiting", text: absence(problem.message), away });
          await pause(wait);
          wait = Math.min(LONGEST_WAIT_MS, 1.6 * wait);
        } else {
          if (problem.kind !== "forbidden") forget(first.body);
          row.shift();
          first.reject(Object.assign(problem, { sent: first.body }));
        }
      }
    }
    running = false;
    says({ state: "", text: "" });
  }
  window.addEventListener("online", () => wake());
  window.addEventListener("beforeunload", (event) => { if (waits && row.length) event.preventDefault(); });

  return {
    // Whether nobody answered, and the next try comes later.
    get away() { return waits && since !== null; },
    get waiting() { return row.length; },
    // How many of them are to items without an answer.
    get fresh() { return row.filter(({ body }) => !body.seen_revision).length; },
    // The answer to this item that is not acknowledged yet, or null.
    pending: (/** @type {Of} */ one) => pressOf(one)?.body ?? null,
    // Whether the answer to this item is on its way, and nothing was heard yet. One of an earlier visit leads nowhere:
    // who looks at its item meanwhile works on it.
    flying: (/** @type {Of} */ one) => !waits && row.length > 0 && !row[0].tried && row[0].body.then !== "stay" && sameItem(row[0].body, one),
    // Answers what the server says and what was ``sent``; a problem has ``sent`` too. A second press while
    // the first of the same item is not acknowledged is the same press, and answers null: another answer takes
    // the place of the first, or follows it where that was heard. It leaves once ``ready`` is.
    save(/** @type {Sent<A>} */ body, /** @type {unknown} */ ready) {
      const there = pressOf(body);
      if (!there) return press({ ...body, token: token() }, () => ready);
      if (JSON.stringify(there.body.answer) !== JSON.stringify(body.answer)) {
        there.body = { ...body, token: token() };
        there.replaced ||= there.tried || there === row[0]; // the server may have heard what it replaces
      }
      unsent.put(there.body);
      wake();
      return null;
    },
    retry: () => wake(),
    // What an earlier visit could not send; answers what became of each: what the server says and ``sent``,
    // or the ``problem`` with ``sent``. ``check(body)``, before each try, throws a problem where it is not wanted.
    catchUp: (/** @type {(body: Sent<A>) => unknown} */ check) => Promise.all(unsent.all().filter((body) => !pressOf(body)).map((body) =>
      press({ ...body, then: "stay" }, () => check(body)).catch((problem) => ({ problem, sent: body })))),
  };
}
