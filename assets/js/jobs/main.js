// The page Jobs: all long jobs of this home folder, whichever process runs them.
import { indexForm } from "./index-form.js";
import { createRow } from "./row.js";
import { stateOf } from "./words.js";
import { api, at, h, openScreen, say, setKeys } from "../shared/common.js";
import { plural } from "../shared/words.js";

const BEAT_MS = 2000, IDLE_MS = 5000;

setKeys([["?", "These keys"]]);

/** @param {HTMLElement} element */
export const mount = (element) => openScreen(element, { page: "jobs", styles: ["study", "studies", "jobs"], css: "cq-st cq-jo" }, async (body) => {
  /** @type {Map<string, ReturnType<typeof createRow>>} */
  const rows = new Map();
  /** @type {Map<string, string>} */
  let states = new Map();
  let timer = 0, opened = "";
  const table = h("table", { class: "cq-sttable cq-jo-table" }, h("thead", {}, h("tr", {}, ["Job", "Progress", "Begun", "Actions"].map((text) => h("th", { scope: "col", text })))));
  const scroll = h("div", { class: "cq-stscroll" }, table), none = empty();
  const index = h("button", { class: "cq-btn", type: "button", text: "Index a folder…", hidden: true, onclick: () => { indexForm(beat); } });

  function put(/** @type {AnswerOf<"jobs/all">} */ { jobs, may_index: mayIndex }) {
    for (const job of jobs) {
      const row = rows.get(job.id);
      if (row) row.put(job);
      else rows.set(job.id, createRow(job, { again: beat, opens: open }));
    }
    const now = new Map(jobs.map((job) => [job.id, stateOf(job)]));
    const changed = jobs.filter((job) => states.has(job.id) && states.get(job.id) !== now.get(job.id));
    if (changed.length) say(changed.map((job) => `${job.kind}: ${now.get(job.id)}`).join(". "));
    states = now;
    for (const [id, row] of rows) {
      if (now.has(id)) continue;
      row.element.remove();
      rows.delete(id);
    }
    const wanted = jobs.map((job) => /** @type {HTMLElement} */ (rows.get(job.id)?.element));
    const shown = [...table.tBodies];
    if (wanted.some((one, place) => one !== shown[place])) {
      const focused = document.activeElement;
      table.append(...wanted);
      if (focused instanceof HTMLElement && table.contains(focused)) focused.focus({ preventScroll: true });
    }
    scroll.hidden = !jobs.length;
    none.hidden = Boolean(jobs.length);
    index.hidden = !mayIndex;
  }
  function open(/** @type {string} */ id) {
    for (const [other, row] of rows) { if (other !== id) row.close(); }
    opened = id;
    if (id) beat();
  }
  const ask = () => api("GET", opened ? `jobs/all?open=${opened}` : "jobs/all", undefined, { ask: false, news: true });
  async function beat() {
    clearTimeout(timer);
    if (document.hidden) return; // it goes on when the page is looked at again
    const answer = await ask().catch(() => null); // the next beat asks again
    if (answer) put(answer);
    clearTimeout(timer);
    timer = setTimeout(beat, answer?.jobs.some((job) => job.state === "running") ? BEAT_MS : IDLE_MS);
  }
  document.addEventListener("visibilitychange", beat);

  body.replaceChildren(h("header", { class: "cq-sthead" }, h("h1", { text: "Jobs" }), h("span", { class: "cq-grow" }), index,
    h("p", { class: "cq-quiet cq-jo-lead", text: "Indexing, captions, audits, constructions, evaluations and training, begun here or on a command line. A stopped job keeps its finished parts." })),
  scroll, none);
  put(await api("GET", "jobs/all"));
  say(plural(rows.size, "job"));
  timer = setTimeout(beat, BEAT_MS);
});

const empty = () => h("div", { class: "cq-none", hidden: true }, h("h2", { text: "No jobs yet" }),
  h("p", { text: "Long commands are listed here while they run and after they end, for example:" }),
  h("p", {}, h("code", { text: "cirque index FOLDER --name NAME" })),
  h("p", {}, h("code", { text: "cirque captions build NAME" })),
  h("p", {}, "A construction can be started on the page ", h("a", { href: at("benchmarks"), text: "Benchmarks" }), "."));
