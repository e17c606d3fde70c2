// What has been begun is kept: by the server after each pause in typing, and in this browser
// until the server has it.
import { api } from "../../shared/calls.js";
import { createDelay } from "../../shared/rest.js";
import { keptByItem, sameItem } from "./kept.js";

const PAUSE_MS = 400, PATIENCE_MS = 1500;

// The ``revision`` of a draft is that of the answer it was begun on.
/** @template A @typedef {ReturnType<typeof createDrafts<A>>} Drafts */
/** @template A @param {string} name whose */
export function createDrafts(name) {
  const here = /** @type {ReturnType<typeof keptByItem<Draft<A>>>} */ (keptByItem(`cirque.drafts.${name}`));
  const typed = createDelay(PAUSE_MS);
  let waiting = /** @type {Draft<A> | null} */ (null), flying = Promise.resolve();
  let answering = /** @type {(one: Of) => Sent<A> | null} */ (() => null), leaving = () => {};
  let given = /** @type {{ draft: Draft<A>, at: number }[]} */ ([]); // {draft, at}: what the server has of this page, and since when
  const forget = (/** @type {Of} */ one) => { given = given.filter(({ draft }) => !sameItem(draft, one)); };

  /** @type {(draft: Of & { answer: A | null, seconds?: number }, how?: CallOptions) => Promise<unknown>} */
  const post = ({ study, item, answer, seconds }, how = {}) => api("POST", "study/draft", { study, item, answer, seconds }, { ask: false, ...how });

  function hold(/** @type {Draft<A>} */ draft) {
    here.put(draft);
    flying = flying.then(() => post(draft)).then(() => {
      forget(draft);
      given.push({ draft, at: performance.now() });
      if ((here.at(draft)?.seconds ?? Infinity) <= draft.seconds) here.drop(draft); // what came later is still on its way
    }, () => {});
  }
  function send() {
    typed.stop();
    const draft = waiting;
    waiting = null;
    if (draft && answering(draft)) here.put(draft); // saving the answer would end it: it follows
    else if (draft) hold(draft);
    return flying;
  }

  // The page goes away: once into this browser, which is certain, once to the server.
  window.addEventListener("pagehide", () => {
    leaving();
    const draft = waiting;
    if (!draft) return;
    waiting = null;
    here.put(draft);
    if (!answering(draft)) post(draft, { keepalive: true }).catch(() => {});
  });
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) return;
    leaving();
    send();
  });

  return {
    // ``saves(one)``: the answer of that item which is on its way, or null. ``leaves()`` may keep what
    // is shown: the page goes away.
    /** @type {(saves: (one: Of) => Sent<A> | null, leaves: () => void) => void} */
    join(saves, leaves) { [answering, leaving] = [saves, leaves]; },
    keep(/** @type {Draft<A>} */ draft) {
      if (waiting && !sameItem(waiting, draft)) send();
      waiting = draft;
      typed.start(send);
    },
    send,
    hold,
    // The answer is on its way: no draft of it may arrive after it.
    drop(/** @type {string} */ study, /** @type {string} */ item) {
      typed.stop();
      waiting = null;
      flying = flying.then(() => forget({ study, item }));
      here.drop({ study, item });
      return Promise.race([flying, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]);
    },
    // The person does not want it.
    discard(/** @type {string} */ study, /** @type {string} */ item) {
      typed.stop();
      waiting = null;
      here.drop({ study, item });
      flying = flying.then(() => forget({ study, item })).then(() => post({ study, item, answer: null })).then(() => {}, () => {});
    },
    // The item's answer is ``revision`` now: what was begun since is a draft on that one. Says whether
    // there is any.
    follow(/** @type {Of} */ one, /** @type {number} */ revision) {
      const draft = here.at(one);
      if (draft) hold({ ...draft, revision });
      return Boolean(draft);
    },
    // The latest of the server's draft, this browser's and an answer that is not sent yet. One that only this browser
    // has, from before the page was left or the server was away, goes to the server now. ``asked``: when the server was
    // asked for ``theirs``, which may be older than what it has got from here since.
    /** @type {(study: string, item: string, revision: number, theirs: { answer: A, seconds: number } | null, asked?: number) => { answer: A, seconds: number } | null} */
    latest(study, item, revision, theirs, asked = Infinity) {
      const late = given.find(({ draft, at }) => at > asked && sameItem(draft, { study, item }));
      const found = here.at({ study, item }) ?? late?.draft;
      if (found && found.revision < revision) here.drop(found); // answered since, in another window
      const mine = found?.revision === revision ? found : null;
      const sent = answering({ study, item });
      if (sent) return mine ?? sent;
      if (!mine || (theirs && theirs.seconds > mine.seconds)) return theirs;
      if (mine !== late?.draft) hold(mine);
      return mine;
    },
  };
}
