// How far a construction is, with a way to stop it and to go on.
import { howFar } from "./words.js";
import { bar as drawn } from "../shared/words.js";
import { api, field, h, messageOf, say, tellIn, toast } from "../shared/common.js";
/** @import { Screen } from "./main.js" */

const BEAT_MS = 1000, LOAD_EVERY = 10;

/**
 * @param {Screen} screen @param {string} name @param {ConstructionRun} first
 * @param {{ finished(): void, changed(): void, state(now: string): void, thing: [string, string] }} hears ``changed``: there are new sessions
 */
export function createProgress(screen, name, first, { finished, changed, state: told, thing }) {
  const bar = h("div", {}), said = h("b", { class: "num" }), detail = h("small", { class: "cq-quiet", dir: "auto" });
  const problem = h("p", { class: "cq-inline", role: "alert", hidden: true });
  const stop = h("button", { class: "cq-btn small", type: "button", text: "Stop", onclick: () => { act(stop, "benchmarks/stop", { name }); } });
  const resume = h("button", { class: "cq-btn small primary", type: "button", text: "Resume", onclick: () => {
    act(resume, "benchmarks/resume", { name, ...limits() });
  } });
  const budget = h("input", { type: "number", min: 0, step: "any" }), calls = h("input", { type: "number", min: 1, step: 1 });
  const asked = h("div", { class: "cq-row cq-be-limits", hidden: true }, field("Budget", budget), field("Requests at most", calls));
  let timer = 0, gone = false, beats = 0, running = first.running;

  const limits = () => (asked.hidden ? {} : { budget: budget.value === "" ? null : Number(budget.value), max_calls: calls.value === "" ? null : Number(calls.value) });

  async function act(/** @type {HTMLButtonElement} */ button, /** @type {string} */ path, /** @type {object} */ sent) {
    button.disabled = true;
    try {
      await api("POST", path, sent);
      await beat();
    } catch (error) {
      toast(messageOf(error));
    } finally {
      button.disabled = false;
    }
  }

  function put(/** @type {ConstructionRun} */ run) {
    const manages = screen.may("manage");
    bar.replaceChildren(drawn(run.done, 0, run.total, howFar(run, thing)));
    said.textContent = howFar(run, thing);
    detail.textContent = [run.stopping ? "Stopping: sessions under way are finished first" : run.running ? "" : "Stopped. Finished parts are kept.", run.why_not,
      run.cost ? `cost ${run.cost.toFixed(2)}` : "", run.calls ? `${run.calls.toLocaleString("en")} requests` : ""].filter(Boolean).join(" · ");
    tellIn(problem, run.problem);
    stop.hidden = !manages || !run.running || !run.here || run.stopping;
    resume.hidden = !manages || run.running || !run.resumable;
    const limited = run.budget !== null || run.max_calls !== null;
    if (!resume.hidden && limited && asked.hidden) {
      budget.value = run.budget === null ? "" : String(run.budget);
      calls.value = run.max_calls === null ? "" : String(run.max_calls);
    }
    asked.hidden = resume.hidden || !limited;
    if (running && !run.running) say(`Stopped at ${howFar(run, thing)}`);
    running = run.running;
  }

  async function beat() {
    clearTimeout(timer);
    try {
      const { state, run } = await api("GET", `benchmarks/run?name=${encodeURIComponent(name)}`, undefined, { ask: false, news: true });
      if (gone) return;
      if (!run || state === "finished") {
        say("The construction is finished");
        return finished();
      }
      put(run);
      told(state);
      if (run.running && ++beats % LOAD_EVERY === 0) changed();
    } catch { /* the next beat asks again */ }
    if (!gone) timer = setTimeout(beat, running ? BEAT_MS : 5 * BEAT_MS);
  }
  put(first);
  timer = setTimeout(beat, BEAT_MS);
  return {
    element: h("section", { class: "cq-be-run", "aria-label": "Construction" }, h("div", { class: "far" }, said, bar, detail), asked, h("div", { class: "cq-row" }, stop, resume), problem),
    leave() {
      gone = true;
      clearTimeout(timer);
    },
  };
}
