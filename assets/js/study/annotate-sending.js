// Saving. An answer waits in this browser until the server has acknowledged it, so neither a
// server that is away nor a closed window loses it. Its token makes a repeated call harmless.
import { api, kept, token } from "./common.js";

const FIRST_WAIT_MS = 1000, LONGEST_WAIT_MS = 10000;
const AGAIN = new Set(["away", "storage"]); // worth another try later

// ``says({state, text})``: "saving", "waiting" with a sentence, "signed-out", or "" when done.
export function createSending(name, says) {
  const KEY = `cirque.unsent.${name}`;
  const unsent = () => kept.read(KEY, {});
  const put = (change) => {
    const all = unsent();
    change(all);
    kept.write(KEY, Object.keys(all).length ? all : null);
  };
  const slot = ({ study, item }) => `${study} ${item}`;
  let flying = null; // what is on its way
  let waits = false; // it is not: the next try comes later
  let replaced = false; // by another answer, while it waited
  let wake = () => {};
  const pause = (ms) => new Promise((resolve) => {
    waits = true;
    wake = resolve;
    if (ms) setTimeout(resolve, ms);
  }).then(() => { waits = false; });

  async function untilAcknowledged(body) {
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(LONGEST_WAIT_MS, 1.6 * wait)) {
      try {
        says({ state: "saving", text: "" });
        const answer = await api("POST", "study/save", body);
        put((all) => { if (all[slot(body)]?.token === body.token) delete all[slot(body)]; });
        says({ state: "", text: "" });
        return answer;
      } catch (problem) {
        if (problem.kind === "signed-out") {
          says({ state: "signed-out", text: "You are signed out. Your answer is kept in this browser." });
          await pause();
        } else if (AGAIN.has(problem.kind)) {
          says({ state: "waiting", text: `${problem.message} Your answer is kept in this browser and is sent as soon as it can be.` });
          await pause(wait);
        } else {
          put((all) => { delete all[slot(body)]; });
          says({ state: "", text: "" });
          throw problem;
        }
      }
    }
  }
  window.addEventListener("online", () => wake());

  return {
    get busy() { return Boolean(flying); },
    // Answers what the server says and what was ``sent``. One at a time: a second press while the
    // first is on its way is the same press, and answers null. It leaves once ``ready`` is.
    save(body, ready) {
      if (flying) {
        if (waits) {
          // It was perhaps never heard: what is wanted now takes its place, as a press of its own.
          if (JSON.stringify(flying.answer) !== JSON.stringify(body.answer)) {
            Object.assign(flying, body, { token: token() });
            replaced = true;
          }
          put((all) => { all[slot(flying)] = flying; });
          wake();
        }
        return null;
      }
      flying = { ...body, token: token() };
      put((all) => { all[slot(flying)] = flying; });
      const sent = flying;
      replaced = false;
      return ready.then(() => untilAcknowledged(sent)).then((answer) => ({ ...answer, sent, replaced })).finally(() => { flying = null; });
    },
    retry: () => wake(),
    // What an earlier visit could not send. ``refused(body, problem)`` hears of what nobody wants.
    async catchUp(refused) {
      let count = 0;
      for (const body of Object.values(unsent())) {
        flying = { ...body, then: "stay" };
        await untilAcknowledged(flying).then(() => { count += 1; }, (problem) => refused(body, problem));
        flying = null;
      }
      return count;
    },
  };
}
