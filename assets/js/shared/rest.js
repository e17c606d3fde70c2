// Whether the page is at rest: ``<html data-rest>`` says "yes" once no call is under way, nothing waits for a timer that
// somebody's last action started, and the focus is where it goes; else "no". Looking for news now and then is no unrest.
// It is not aria-busy, which hides from some screen readers what stands still while a draft is kept: that is for parts
// that are being replaced.

const JUST_SHOWN_MS = 250;
const reasons = new Set();
let settling = 0;

/** From now on, or no longer, this is a reason why the page is not at rest. @param {unknown} reason @param {boolean} [on] */
export function stirs(reason, on = true) {
  if (on) reasons.add(reason);
  else reasons.delete(reason);
  clearTimeout(settling);
  if (reasons.size) tell("no");
  else settling = setTimeout(tell, 0, "yes"); // what follows from an answer is done, or has given another reason
}
const tell = (/** @type {string} */ rest) => { document.documentElement.dataset.rest = rest; };

/** The page is not at rest until this has come about or failed. @template T @param {Promise<T>} work @returns {Promise<T>} */
export function until(work) {
  const over = () => stirs(work, false);
  stirs(work);
  work.then(over, over);
  return work;
}

/** What is done a moment later, and only once where it is started again and again. */
export function createDelay(/** @type {number} */ ms) {
  const reason = {};
  let timer = 0, runs = false;
  function stop() {
    clearTimeout(timer);
    runs = false;
    stirs(reason, false);
  }
  return {
    get runs() { return runs; },
    start(/** @type {() => unknown} */ act = () => {}) {
      clearTimeout(timer);
      runs = true;
      stirs(reason);
      timer = setTimeout(() => { stop(); act(); }, ms);
    },
    stop,
  };
}

// Runs for as long as Enter is taken for the second half of a double press, or as meant for what was there before.
export const createGuard = () => createDelay(JUST_SHOWN_MS);
