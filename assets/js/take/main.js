// The page of a participant who came by a study's link: one study, and nothing else of cirque.
import { at, h, messageOf, mountNav, setKeys, style, until } from "../shared/common.js";
import { beginScreen, deskOf, loading } from "../annotate/begin.js";
import { SCREENS } from "../annotate/kinds.js";
import { openDesk } from "../annotate/workspace.js";
import { speak, t } from "../shared/language.js";

async function opened(/** @type {HTMLElement} */ element) {
  await speak(document.documentElement.lang);
  const bar = h("div", { class: "st-barbox" }), body = h("div", { class: "st-main" });
  element.classList.add("st-screen");
  await style("study");
  element.replaceChildren(bar, body);
  element.removeAttribute("aria-busy");
  setKeys([["?", t("These keys")]]);
  // The page behind the link says where somebody stands: a seat that went to others, the end.
  const others = () => window.location.assign(at("").replace(/\/$/, ""));
  window.addEventListener("popstate", () => window.location.reload());
  const fill = async () => {
    const { me, slot } = await mountNav(bar, { page: "annotate" });
    const name = me.study ?? "";
    document.title = name;
    const desk = await deskOf(name);
    if (!desk.joined) return others();
    const go = { body, slot, me, name, others };
    const load = SCREENS[desk.study.kind];
    if (!load) return (await import("../annotate/survey/main.js")).openSurvey({ ...go, desk: /** @type {SurveyDesk} */ (desk) });
    if (desk.progress.done) return openDesk({ ...go, desk, load });
    const first = await beginScreen(desk, { others: null, join: () => openDesk({ ...go, desk, load }) });
    setKeys((await load()).keysOf(first.page));
    body.replaceChildren(first.element);
    first.show();
  };
  await loading(body, fill()).catch((problem) => body.replaceChildren(h("section", { class: "st-page st-none" },
    h("h1", { text: t("This cannot be shown") }), h("p", { class: "cq-lead", text: messageOf(problem), dir: "auto" }),
    h("div", { class: "cq-row" }, h("button", { class: "cq-btn primary", type: "button", text: t("Try again"), onclick: others })))));
}

// Light or dark as the system has it: on other pages Gradio does this. What was chosen by the button counts more.
const dark = window.matchMedia("(prefers-color-scheme: dark)");
let chosen = null;
try { chosen = localStorage.getItem("cirque.theme"); } catch { /* private windows may not store anything */ }
if (!chosen) document.body.classList.toggle("dark", dark.matches);

const root = document.getElementById("annotate-root");
if (root) until(opened(root));
