// How long somebody has looked at an item: the seconds during which the page was to be seen.
export function createClock() {
  let before = 0, since = /** @type {number | null} */ (null);

  const now = () => before + (since === null ? 0 : (performance.now() - since) / 1000);
  const run = () => { if (since === null && !document.hidden) since = performance.now(); };
  const pause = () => { before = now(); since = null; };
  document.addEventListener("visibilitychange", () => (document.hidden ? pause() : run()));

  return {
    get seconds() { return Math.round(10 * now()) / 10; },
    start(from = 0) {
      [before, since] = [from, null];
      run();
    },
  };
}
