// One job: how far it is, what can be done with it, and its details. Updated in place, so that the focus stays.
import { byWhom, howFar, problemOf, stateChip } from "./words.js";
import { api, confirm, h, messageOf, tellIn, toast } from "../shared/common.js";
import { ago, bar } from "../shared/words.js";

/**
 * @param {Job} first
 * @param {{ again(): Promise<void>, opens(id: string): void }} does ``opens``: which one's log is asked for, "" for none
 */
export function createRow(first, { again, opens }) {
  const id = first.id;
  let job = first;
  const state = h("span", {}), bars = h("div", {}), far = h("small", { class: "num" }), problem = h("p", { class: "cq-inline", hidden: true, dir: "auto" });
  const begun = h("span", {}), log = h("pre", { class: "cq-jo-log", tabindex: "0", "aria-label": "Last lines of the log" }), alive = h("p", { class: "cq-quiet" });
  const stop = action("Stop", "jobs/stop", ""), resume = action("Resume", "jobs/resume", "primary");
  const forget = h("button", { class: "cq-btn small", type: "button", text: "Remove", title: "Remove this record; the results are kept", onclick: async () => {
    if (await confirm("Remove this record?", "Results and finished parts are kept. Only this record and its log are deleted.", "Remove it")) act(forget, "jobs/forget");
  } });
  const details = h("tr", { class: "cq-jo-details", hidden: true, id: `job-${id}` }, h("td", { colspan: 4 }, h("p", {}, h("code", { text: `cirque jobs show ${id}` })), alive, log));
  const more = h("button", { class: "cq-btn small", type: "button", text: "Log", "aria-expanded": "false", "aria-controls": `job-${id}`, onclick: () => { open(Boolean(details.hidden)); } });

  function action(/** @type {string} */ text, /** @type {string} */ path, /** @type {string} */ kind) {
    const button = h("button", { class: `cq-btn small ${kind}`, type: "button", text, onclick: () => { act(button, path); } });
    return button;
  }
  async function act(/** @type {HTMLButtonElement} */ button, /** @type {string} */ path) {
    button.disabled = true;
    try {
      await api("POST", path, { id }, { patience: 90000 });
      await again();
    } catch (error) {
      toast(messageOf(error));
    } finally {
      button.disabled = false;
      if (button.hidden && document.activeElement === document.body) more.focus();
    }
  }
  function open(/** @type {boolean} */ now) {
    details.hidden = !now;
    more.setAttribute("aria-expanded", String(now));
    opens(now ? id : "");
  }

  function put(/** @type {Job} */ now) {
    job = now;
    state.replaceChildren(stateChip(job));
    bars.replaceChildren(bar(job.done, 0, job.total, howFar(job) || job.state));
    bars.hidden = !job.total || job.state === "done";
    far.textContent = howFar(job);
    tellIn(problem, problemOf(job));
    begun.textContent = `${ago(job.began)}, ${byWhom(job)}`;
    stop.hidden = job.state !== "running" || job.stopping;
    resume.hidden = !job.resumable;
    resume.textContent = job.resumes ? "Resume" : "Run again";
    forget.hidden = job.state === "running";
    alive.textContent = job.state === "running" ? "" : `Ended ${ago(job.alive)}`;
    alive.hidden = job.state === "running";
    if (job.log === null) return;
    const atEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 4;
    log.textContent = job.log.length ? job.log.join("\n") : "Nothing yet.";
    if (atEnd) log.scrollTop = log.scrollHeight;
  }
  for (const button of [stop, resume, forget, more]) button.setAttribute("aria-label", `${button.textContent}: ${job.kind}, ${id}`);
  put(first);
  return {
    element: h("tbody", { "data-job": id },
      h("tr", {},
        h("th", { scope: "row" }, h("b", { text: job.kind }), h("code", { text: job.command, title: job.command, dir: "auto" })),
        h("td", {}, h("div", { class: "cq-jo-far" }, state, bars, far), problem),
        h("td", { class: "cq-jo-begun" }, begun),
        h("td", {}, h("div", { class: "cq-row" }, stop, resume, more, forget))),
      details),
    put,
    close: () => { if (!details.hidden) { details.hidden = true; more.setAttribute("aria-expanded", "false"); } },
  };
}
