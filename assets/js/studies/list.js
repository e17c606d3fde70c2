// All studies, and what a new one would cost.
import { api, at, h } from "../shared/common.js";
import { sampleStudy } from "../annotate/sample.js";
import { planner } from "./planner.js";
import { bar, chip, count, day, percent, plural } from "../shared/words.js";

/** @import { Screen, View } from "./main.js" */

export async function listView(/** @type {Screen} */ screen) {
  const { studies: all } = await api("GET", "studies/all");
  const away = new URL(window.location.href).searchParams.has("archived"), studies = all.filter(({ archived }) => archived === away), put = all.length - studies.length;
  const rows = new Map(studies.map((study) => [study.id, row(screen, study)]));
  const element = h("div", {},
    h("header", { class: "cq-sthead" }, h("h1", { text: "Studies" }),
      h("p", { class: "cq-quiet", text: studies.length ? plural(studies.length, "study", "studies") : "" }),
      h("span", { class: "cq-grow" }), ...(screen.may("manage") ? [h("button", { class: "cq-btn", type: "button", text: "Import judgements", onclick: () => screen.make("judgements") }),
        h("button", { class: "cq-btn primary", type: "button", text: "New study", onclick: () => screen.make("table") })] : [])),
    studies.length
      ? h("ul", { class: "cq-stlist" }, [...rows.values()].map((it) => it.element))
      : h("div", { class: "cq-none" }, h("h2", { text: "No study yet" }),
        h("p", { text: screen.may("manage")
          ? "Make one from a table and its pictures, or from an audit, searches or a benchmark built here; or import judgements that were made elsewhere."
          : "A researcher can create a study; it will appear here." }),
        screen.may("manage") ? sampleStudy() : null),
    away || put ? h("p", {}, h("a", { class: "st-link", href: at(away ? "studies" : "studies?archived=1"), text: away ? "All other studies" : `${plural(put, "archived study", "archived studies")}` })) : null,
    screen.may("manage") ? planner(screen, { open: !studies.length }) : null);
  return {
    element,
    async beat() {
      const now = (await api("GET", "studies/all", undefined, { ask: false, news: true })).studies.filter(({ archived }) => archived === away);
      if (now.length !== rows.size || now.some((it) => !rows.has(it.id))) return screen.again();
      for (const study of now) rows.get(study.id)?.put(study);
    },
  };
}

function row(/** @type {Screen} */ screen, /** @type {Study} */ first) {
  const progress = h("div", { class: "cq-stprogress" });
  const facts = h("p", { class: "cq-quiet num" });
  const state = h("span", {});
  function put(/** @type {Study} */ study) {
    const { items, done, unsure, assignments } = study.counts;
    state.replaceChildren(study.accepting ? chip("Open", "on") : chip("Closed"));
    facts.textContent = [plural(items, first.words.one, first.words.many), people(study), study.counts.decisions ? `${count(study.counts.decisions)} adjudicated` : "",
      `created ${day(study.created_at)}${study.created_by ? ` by ${study.created_by}` : ""}`].filter(Boolean).join(" · ");
    const done_of = `${count(done)} of ${plural(assignments, "answer")}`;
    progress.replaceChildren(bar(done, unsure, assignments, `${done_of}${unsure ? `, ${count(unsure)} unsure` : ""}`),
      h("b", { class: "num", text: `${percent(done, assignments)} %` }),
      h("small", { text: done_of + (unsure ? ` · ${count(unsure)} unsure` : "") }));
  }
  put(first);
  const open = (/** @type {MouseEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    screen.go(first.name);
  };
  const element = h("li", { class: "cq-stcard" },
    h("div", { class: "cq-stname" },
      h("h2", {}, h("a", { href: at(`studies?study=${encodeURIComponent(first.name)}`), onclick: open, text: first.name, dir: "auto" })),
      h("span", { class: "cq-row" }, chip(`${first.words.title} · ${first.protocol}`), state)),
    facts, progress);
  return { element, put };
}

const people = (/** @type {Study} */ { counts, seats }) => (counts.people < seats
  ? `${count(counts.people)} of ${plural(seats, "person", "people")}` : plural(counts.people, "person", "people"));
