// The analysis screen: all studies, or the report of one. What is looked at stands in the address.
import { addressOf, readView } from "./address.js";
import { listView } from "./list.js";
import { oneView } from "./one.js";
import { at, h, mountNav, say, setKeys, style } from "../shared/common.js";

setKeys([["?", "These keys"], ["Esc", "Close what is open"]]);

const titleOf = (study) => (study ? `${study}: analysis · cirque` : "Analysis · cirque");

export async function mount(element) {
  await Promise.all([style("study"), style("studies"), style("analysis")]);
  const bar = h("div", {});
  const body = h("main", { class: "cq-st cq-an", "aria-busy": "true" });
  element.replaceChildren(bar, body);
  const problem = (error) => body.replaceChildren(h("div", { class: "cq-none" },
    h("h2", { text: "This cannot be shown" }), h("p", { text: error.message, dir: "auto" }),
    h("div", { class: "cq-row" }, h("button", { class: "cq-btn", type: "button", text: "Try again", onclick: () => show() }),
      error.kind === "unknown" ? h("a", { class: "cq-btn", href: at("analysis"), text: "All studies" }) : null)));
  let me;
  try {
    ({ me } = await mountNav(bar, { page: "analysis" }));
  } catch (error) {
    return problem(error);
  }
  let shown = null, asked = 0;

  const screen = {
    me: me.name,
    may: (what) => me.may.includes(what),
    // Another study, or the list ("").
    go(study) {
      window.history.pushState(null, "", addressOf({ ...readView("about:blank"), study }));
      show();
      window.scrollTo(0, 0);
    },
    // The same study, looked at in another way: Back leads to the study before, not to every filter.
    put(view) {
      window.history.replaceState(null, "", addressOf(view));
      document.title = titleOf(view.study);
    },
  };

  async function show() {
    const mine = ++asked, view = readView();
    shown?.leave?.();
    shown = null;
    body.setAttribute("aria-busy", "true");
    try {
      const next = await (view.study ? oneView(screen, view) : listView(screen));
      if (mine !== asked) return next.leave?.();
      shown = next;
      document.title = titleOf(view.study);
      body.replaceChildren(shown.element);
      shown.begin?.();
      say(view.study ? `Analysis of ${view.study}` : "Analysis");
    } catch (error) {
      if (mine === asked) problem(error);
    } finally {
      if (mine === asked) body.removeAttribute("aria-busy");
    }
  }

  window.addEventListener("popstate", show);
  await show();
}
