// The report of one study: what is looked at, the numbers in their sections, and what can be taken away.
import { api, at, h, say } from "./common.js";
import { filtered, wanted, wantedReport } from "./analysis-address.js";
import { showDisputed, spoken } from "./analysis-disputed.js";
import { createFilters } from "./analysis-filters.js";
import { follow } from "./analysis-follow.js";
import { createHead } from "./analysis-head.js";
import { planPart } from "./analysis-plan.js";
import { scoresPart } from "./analysis-scores.js";
import { createSections } from "./analysis-sections.js";

const WAIT_MS = 250; // several filters are pressed in a row

export async function oneView(screen, first) {
  const { study, you_judge } = await api("GET", `studies/one?study=${encodeURIComponent(first.study)}`);
  const { kind } = study;
  let view = { ...first, study: study.name }, timer = 0, latest = null;

  const query = () => wantedReport(view, kind);
  const sections = createSections({ query, disputed, fileName: (key) => `${study.name} ${key}`.replace(/[/\\:*?"<>|\p{Cc}]+/gu, "_") });
  const head = createHead({ study, query, view: () => view, change, toggleLive: () => reports.poll() });
  const filters = createFilters({ kind, view: () => view, change });
  const scores = kind === "preference" ? scoresPart({ screen, study: study.name, changed: () => reports.load() }) : null;
  const plan = planPart({ view: () => view, change, shown: () => sections.goTo("precision") });
  const progress = h("p", { class: "cq-an-progress", role: "status" });
  const notes = h("ul", { class: "cq-an-notes", role: "list" }), trouble = h("p", { class: "cq-an-trouble", role: "status", hidden: true });
  const skeleton = h("div", { class: "cq-an-skeleton", "aria-hidden": "true" }, Array.from({ length: 6 }, () => h("i", { class: "cq-shimmer" })));
  const wrong = h("div", {});
  const main = h("div", { class: "cq-an-main" }, notes, wrong, skeleton, sections.element, plan.element);
  const body = h("div", { class: "cq-an-body" }, main, sections.nav);
  const report = [filters.element, scores?.element ?? null, progress, trouble, body];
  const element = h("div", {}, head.element, you_judge ? covered() : report);

  const reports = follow({
    query: (draws) => wantedReport(view, kind, draws), draws: () => view.draws, following: () => head.live,
    show(answer, { final }) {
      latest = answer;
      main.classList.remove("stale");
      wrong.replaceChildren();
      skeleton.hidden = true;
      const nothing = !answer.about.answered;
      head.put(answer);
      filters.put(answer);
      scores?.put(answer.scores);
      notes.replaceChildren(...(answer.about.notes ?? []).map((text) => h("li", { text, dir: "auto" })));
      if (nothing) {
        sections.clear();
        wrong.replaceChildren(nobodyYet(answer.accepting));
      } else {
        sections.put(answer, { awaited: !final });
        if (final) say("The report is complete");
      }
      plan.put(answer, { nothing, final });
    },
    busy(text) {
      progress.textContent = text;
      progress.classList.toggle("on", Boolean(text));
      main.setAttribute("aria-busy", String(Boolean(text)));
    },
    problem(error) {
      skeleton.hidden = true;
      sections.clear();
      notes.replaceChildren();
      wrong.replaceChildren(h("div", { class: "cq-none" }, h("h2", { text: "This cannot be reported" }), h("p", { text: error.message, dir: "auto" }),
        h("div", { class: "cq-row" }, h("button", { class: "cq-btn", type: "button", text: "Try again", onclick: () => reports.load() }),
          filtered(view) ? h("button", { class: "cq-btn", type: "button", text: "Clear filters", onclick: () => change({ datasets: [], categories: [], people: [], block: false }) }) : null)));
    },
    trouble(text) {
      trouble.textContent = text;
      trouble.hidden = !text;
    },
    news: (number) => head.news(number),
  });

  function change(part) {
    const hides = part.names === true;
    view = { ...view, ...part };
    screen.put(view);
    if (latest) filters.put(latest);
    head.mark();
    clearTimeout(timer);
    main.classList.add("stale");
    if (!hides) {
      timer = setTimeout(() => reports.load(), WAIT_MS);
      return;
    }
    // No name stays on the screen while the codes are on their way.
    latest = null;
    sections.clear();
    filters.forget();
    notes.replaceChildren();
    skeleton.hidden = false;
    reports.load();
  }

  function disputed(of, from) {
    const called = new Map((latest?.choices.people ?? []).map(({ seat, name }) => [seat, name]));
    const about = { binary: "valid or not", signature: "the whole signature" }[of.key] ?? spoken(of.key).toLowerCase();
    showDisputed({ query: wanted(view, kind), of, from, title: `${called.get(of.a) ?? "?"} and ${called.get(of.b) ?? "?"}: ${about}` });
  }

  // Somebody who judges in the study sees nothing of it before they ask to.
  function covered() {
    const cover = h("div", { class: "cq-stcovered" }, h("p", { text: "You judge in this study. Its report shows what judges should not know." }),
      h("button", { class: "cq-btn small", type: "button", text: "Show it all the same", onclick: () => {
        cover.replaceWith(...report.filter(Boolean));
        reports.load();
      } }));
    return cover;
  }

  return {
    element,
    begin: () => { if (!you_judge) reports.load(); },
    leave() {
      clearTimeout(timer);
      reports.leave();
      sections.clear();
    },
  };
}

const nobodyYet = (accepting) => h("div", { class: "cq-none" }, h("h2", { text: "No answer yet" }),
  h("p", { text: accepting ? "Agreement and rates need answers. They appear here by themselves as people answer."
    : "The study is closed and nobody has answered. Open it again, or look at another one." }),
  h("a", { class: "cq-btn", href: at("studies"), text: "To the studies" }));
