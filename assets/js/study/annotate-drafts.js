// What has been begun is kept: by the server after each pause in typing, and in this browser
// where the server does not take it.
import { api, kept } from "./common.js";

const PAUSE_MS = 400;

export function createDrafts(name) {
  const KEY = `cirque.draft.${name}`;
  let waiting = null, timer = 0, flying = Promise.resolve();

  async function send() {
    clearTimeout(timer);
    if (!waiting) return flying;
    const draft = waiting;
    waiting = null;
    const { revision, ...body } = draft;
    flying = flying.then(() => api("POST", "study/draft", body, { ask: false }))
      .then(() => { if (here(draft)) kept.write(KEY, null); })
      .catch(() => { kept.write(KEY, draft); });
    return flying;
  }
  const here = ({ study, item }) => {
    const mine = kept.read(KEY, null);
    return mine?.study === study && mine?.item === item ? mine : null;
  };

  // The page goes away: once into this browser, which is certain, once to the server.
  window.addEventListener("pagehide", () => {
    if (!waiting) return;
    kept.write(KEY, waiting);
    const { revision, ...body } = waiting;
    waiting = null;
    api("POST", "study/draft", body, { ask: false, keepalive: true }).catch(() => {});
  });

  return {
    // {study, item, answer, seconds, revision}
    keep(draft) {
      waiting = draft;
      clearTimeout(timer);
      timer = setTimeout(send, PAUSE_MS);
    },
    send,
    // The answer is on its way: no draft of it may arrive after it.
    async drop(study, item) {
      clearTimeout(timer);
      waiting = null;
      await Promise.race([flying, new Promise((resolve) => setTimeout(resolve, 1500))]);
      if (here({ study, item })) kept.write(KEY, null);
    },
    // What was sent and not taken is a draft again.
    hold: ({ study, item, answer, seconds, seen_revision: revision }) => kept.write(KEY, { study, item, answer, seconds, revision }),
    // The later of the server's draft and this browser's.
    latest(study, item, revision, theirs) {
      const mine = here({ study, item });
      if (!mine || mine.revision !== revision) return theirs;
      return theirs && theirs.seconds > mine.seconds ? theirs : mine;
    },
  };
}
