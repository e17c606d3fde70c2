// All constructions of this server.
import { startForm } from "./start.js";
import { THINGS, howFar, stateChip } from "./words.js";
import { api, at, h, say } from "../shared/common.js";
import { ago, bar, percent, plural } from "../shared/words.js";
/** @import { Screen, Shown } from "./main.js" */

const BEAT_MS = 2000;
const SESSIONS = "cirque construct sessions sample --gallery atelier --out CIRQUE_HOME/benchmarks/NAME";
const TARGETS = "cirque construct multi-target sample --gallery atelier --out CIRQUE_HOME/benchmarks/NAME";

/** @returns {Promise<Shown>} */
export async function listView(/** @type {Screen} */ screen) {
  const list = h("ul", { class: "cq-stlist" }), none = empty(screen);
  const start = h("button", { class: "cq-btn primary", type: "button", text: "Construct…", hidden: !screen.may("manage"), onclick: () => startForm(beat) });
  let known = "", timer = 0, gone = false;

  function put(/** @type {AnswerOf<"benchmarks/all">} */ answer) {
    const now = JSON.stringify(answer);
    if (now === known) return;
    known = now;
    const { benchmarks, starting } = answer, focused = document.activeElement?.closest("[data-name]")?.getAttribute("data-name");
    list.replaceChildren(...(starting ? [begins(starting)] : []), ...benchmarks.map((one) => row(screen, one)));
    none.hidden = Boolean(list.childElementCount);
    const again = [...list.querySelectorAll("[data-name]")].find((one) => one.getAttribute("data-name") === focused);
    if (focused && again instanceof HTMLElement) again.querySelector("a")?.focus({ preventScroll: true });
  }
  async function beat() {
    clearTimeout(timer);
    if (!document.hidden) {
      const answer = await api("GET", "benchmarks/all", undefined, { ask: false, news: true }).catch(() => null); // the next beat asks again
      if (gone) return;
      if (answer) put(answer);
    }
    timer = setTimeout(beat, BEAT_MS);
  }
  put(await api("GET", "benchmarks/all"));
  timer = setTimeout(beat, BEAT_MS);
  return {
    element: h("div", {},
      h("header", { class: "cq-sthead" }, h("h1", { text: "Benchmarks" }), h("span", { class: "cq-grow" }), start,
        h("p", { class: "cq-quiet cq-be-lead", text: "Multi-turn sessions constructed from single-turn queries, as in CIRCLED, and queries with all their targets, as in SoFT: to read, filter and judge." })),
      list, none),
    begin: () => say(plural(list.childElementCount, "benchmark")),
    leave() {
      gone = true;
      clearTimeout(timer);
    },
  };
}

const empty = (/** @type {Screen} */ screen) => h("div", { class: "cq-none", hidden: true }, h("h2", { text: "No benchmarks yet" }),
  screen.may("manage") ? h("p", { text: "Press “Construct…” to make sessions from the sample, or from the command line:" })
    : h("p", { text: "A researcher can construct one here or from the command line:" }),
  h("p", {}, h("code", { text: SESSIONS })),
  h("p", { text: "Queries with all their targets need a language model that sees images:" }),
  h("p", {}, h("code", { text: TARGETS })),
  h("p", { class: "cq-quiet", text: "Every folder of a construction in the folder benchmarks of CIRQUE_HOME is listed here." }));

function begins(/** @type {{ name: string, run: ConstructionRun }} */ { name, run }) {
  return h("li", { class: "cq-stcard", "data-name": name },
    h("div", { class: "cq-stname" }, h("h2", { text: name, dir: "auto" }), stateChip(run.running ? "running" : "stopped")),
    run.problem ? h("p", { class: "cq-inline", role: "alert", text: run.problem, dir: "auto" }) : h("p", { class: "cq-quiet", text: `${run.text}…` }));
}

function row(/** @type {Screen} */ screen, /** @type {Benchmark} */ { name, kind, state, problem, run, dataset, gallery, model, queries, sessions, changed }) {
  const open = (/** @type {MouseEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    screen.go(name);
  };
  const readable = state !== "unreadable";
  const facts = [kind === "targets" ? "queries with all their targets" : "", sessions === null ? "" : plural(sessions, "session"), queries === null ? "" : plural(queries, "query", "queries"), dataset, gallery && `gallery ${gallery}`,
    model && `model ${model}`, changed && ago(changed)];
  return h("li", { class: "cq-stcard", "data-name": name },
    h("div", { class: "cq-stname" },
      h("h2", {}, readable ? h("a", { href: at(`benchmarks?name=${encodeURIComponent(name)}`), onclick: open, text: name, dir: "auto" }) : h("span", { text: name, dir: "auto" })),
      stateChip(state)),
    h("p", { class: "cq-quiet num", text: facts.filter(Boolean).join(" · "), dir: "auto" }),
    problem ? h("p", { class: "cq-inline", text: problem, dir: "auto" }) : null,
    run ? h("div", { class: "cq-stprogress" }, bar(run.done, 0, run.total, howFar(run, THINGS[kind])), h("b", { class: "num", text: run.total ? `${percent(run.done, run.total)} %` : "" }),
      h("small", { text: [howFar(run, THINGS[kind]), run.running ? "" : run.resumable ? "can be resumed" : ""].filter(Boolean).join(" · ") })) : null);
}
