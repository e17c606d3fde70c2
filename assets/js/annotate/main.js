// The annotation screen: the list of studies, or the one that the address names.
import { api, h, messageOf, mountNav, setKeys, style, until } from "../shared/common.js";
import { beginScreen, deskOf, loading } from "./begin.js";
import { SCREENS } from "./kinds.js";
import { openDesk } from "./workspace.js";
import { sampleStudy } from "./sample.js";
import { AHEAD } from "./work/stock.js";
import { speak, t } from "../shared/language.js";

async function opened(/** @type {HTMLElement} */ element) {
  const bar = h("div", { class: "st-barbox" });
  const body = h("div", { class: "st-main" });
  element.classList.add("st-screen");
  await style("study");
  element.replaceChildren(bar, body);
  setKeys([["?", t("These keys")]]);
  const url = () => new URL(window.location.href);
  const others = () => {
    const to = url();
    to.searchParams.delete("study");
    window.location.assign(to);
  };
  window.addEventListener("popstate", () => window.location.reload());

  const failed = (/** @type {unknown} */ problem, /** @type {() => void} */ again) => body.replaceChildren(h("section", { class: "st-page st-none" },
    h("h1", { text: t("This cannot be shown") }), h("p", { class: "cq-lead", text: messageOf(problem), dir: "auto" }),
    h("div", { class: "cq-row" }, h("button", { class: "cq-btn primary", type: "button", text: t("Try again"), onclick: again }),
      h("button", { class: "cq-btn", type: "button", text: t("All studies"), onclick: others }))));
  const reload = () => window.location.reload();

  const fill = async () => {
    const { me, slot } = await mountNav(bar, { page: "annotate" });
    /** @type {(name: string) => Promise<unknown>} */
    const work = async (/** @type {string} */ name) => {
      document.title = `${name} · cirque`;
      const desk = await deskOf(name);
      await speak(desk.study.language);
      const go = { body, slot, me, name, others };
      const load = SCREENS[desk.study.kind];
      if (!load) { // begins with its guidelines
        return (await import("./survey/main.js")).openSurvey({ ...go, desk: /** @type {SurveyDesk} */ (desk) });
      }
      if (desk.joined) return openDesk({ ...go, desk, load });
      const first = await beginScreen(desk, { others, join: async () => {
        const mine = await api("POST", "study/join", { study: name, ahead: AHEAD });
        until(openDesk({ ...go, desk: mine, load })).catch((problem) => failed(problem, reload));
      } });
      setKeys((await load()).keysOf(first.page));
      body.replaceChildren(first.element);
      first.show();
    };
    const named = url().searchParams.get("study");
    if (named) return await work(named);
    document.title = "Annotate · cirque";
    const { studies } = await api("GET", "study/mine");
    body.replaceChildren(studyList(studies, me, (name) => {
      const to = url();
      to.searchParams.set("study", name);
      window.history.pushState(null, "", to);
      until(loading(body, work(name))).catch((problem) => failed(problem, reload));
    }));
  };
  await loading(body, fill()).catch((problem) => failed(problem, reload));
}
export const mount = (/** @type {HTMLElement} */ element) => until(opened(element));

// The studies a person may judge in, as cards.
/** @param {AnswerOf<"study/mine">["studies"]} studies @param {Me} me @param {(name: string) => void} open */
export function studyList(studies, me, open) {
  if (!studies.length) {
    return h("section", { class: "st-page st-none" }, h("h1", { text: "No study is open" }),
      h("p", { class: "cq-lead", text: "Open studies appear here. Come back later, or ask the person who invited you." }),
      me.may.includes("manage") ? [sampleStudy(),
        h("p", { class: "cq-quiet" }, "To create one from an audit: ", h("code", { text: "cirque study create validity NAME --from-audit AUDIT" }))] : null);
  }
  const card = (/** @type {AnswerOf<"study/mine">["studies"][number]} */ { name, accepting, joined, done, total }) => {
    const finished = joined && total > 0 && done >= total;
    const begin = !joined ? "Begin" : finished || !accepting ? "Review" : "Go on";
    const words = !joined ? "Not started" : `${done.toLocaleString("en")} of ${total.toLocaleString("en")} done`;
    return h("li", { class: "st-card" },
      h("h2", { text: name, dir: "auto" }),
      h("progress", { class: "st-bar", max: Math.max(1, total), value: joined ? done : 0, "aria-label": `Done in ${name}` }),
      h("p", { class: "cq-quiet", text: accepting ? words : `${words} · closed` }),
      h("button", { class: `cq-btn${finished || !accepting ? "" : " primary"}`, type: "button", text: begin, "aria-label": `${begin}: ${name}`, onclick: () => open(name) }));
  };
  return h("section", { class: "st-page" }, h("h1", { text: "Your studies" }), h("ul", { class: "st-cards" }, studies.map(card)));
}
