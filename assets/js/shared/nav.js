// The bar at the top: the screens this person may see, who they are, light or dark.
import "./menus.js";
import { api, ApiProblem, openedBy } from "./calls.js";
import { showKeys, signedInAs, tell } from "./dialogs.js";
import { at, h, icon, ROOT } from "./elements.js";
import { t } from "./language.js";

function mark() {
  const link = h("a", { class: "cq-mark", href: ROOT.href, "aria-label": t("cirque: start page") });
  const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  drawing.setAttribute("viewBox", "0 0 28 28");
  drawing.setAttribute("aria-hidden", "true");
  for (const [kind, cx, cy, r] of [["", "14", "14", "10.5"], ["dot", "21.4", "6.6", "4.2"]]) {
    const circle = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    for (const [name, value] of Object.entries({ class: kind, cx, cy, r })) circle.setAttribute(name, value);
    drawing.append(circle);
  }
  link.append(drawing, h("span", { text: "cirque" }));
  return link;
}

/**
 * Puts the bar into ``element``; answers who this is, and a place in the bar for the page's own things.
 * @param {HTMLElement} element
 * @param {{ page: string }} of
 */
export async function mountNav(element, { page }) {
  const slot = h("div", { class: "cq-slot" });
  const pages = h("div", { class: "cq-pages" });
  element.append(h("header", { class: "cq-top cq-studytop" }, mark(), slot, pages,
    h("nav", { class: "cq-nav", "aria-label": t("Tools") },
      h("button", { class: "cq-tool cq-forkeys", type: "button", title: `${t("Keys")} (?)`, "aria-label": t("Keyboard"), onclick: showKeys }, icon("keys")),
      h("button", { class: "cq-tool", type: "button", title: t("Light or dark"), "aria-label": t("Light or dark"), onclick: toggleTheme }, icon("moon")))));

  const me = await visitor();
  pages.append(...screens(me, page));
  return { me, slot };
}

// Who this is: {name, open, may, pages}. From now on every call says so.
export async function visitor(/** @type {CallOptions} */ options = {}) {
  const me = await api("GET", "me", undefined, options);
  openedBy(me.name);
  signedInAs(me.open ? "" : me.name);
  return me;
}

// The screens that ``me`` may see (the server's table, web/http/pages.py), where there are several; and a menu with
// them, for narrow windows, and with who this is. ``page`` is where we are.
export function screens(/** @type {Me} */ me, /** @type {string} */ page) {
  if (me.demo || me.participant) return [];
  const links = () => me.pages
    .map((to) => h("a", { class: "cq-page", href: at(to.path), text: to.title, "aria-current": to.page === page ? "page" : null }));
  const menu = h("details", { class: "cq-menu" },
    h("summary", { class: "cq-tool", title: me.open ? "No sign-in" : me.name },
      h("span", { class: "cq-who", "aria-hidden": "true" }, h("span", { text: me.open ? "Local" : [...me.name][0].toUpperCase() })),
      h("span", { class: "sr", text: me.open ? "Other screens" : `${me.name}: other screens, sign out` })),
    h("div", { class: "cq-menubox" },
      h("nav", { "aria-label": "Screens" }, links()),
      me.open
        ? h("p", { class: "cq-quiet", text: "No sign-in needed; reachable from this machine only. Creating the first account turns sign-in on: cirque user add NAME --role admin" })
        : [h("p", { class: "cq-quiet" }, "Signed in as ", h("b", { text: me.name, dir: "auto" })),
          h("button", { class: "cq-page", type: "button", text: "Sign out", onclick: signOut })]));
  return me.pages.length > 1 ? [h("nav", { class: "cq-pagelinks", "aria-label": "Screens" }, links()), menu] : [menu];
}

// Signing out. A failure is shown: somebody else may sit here next.
let signingOut = /** @type {Promise<unknown> | null} */ (null);
const signOut = () => (signingOut ??= requestSignOut().finally(() => { signingOut = null; }));

async function requestSignOut() {
  try {
    await api("POST", "sign-out", {}, { ask: false });
  } catch (problem) {
    if (!(problem instanceof ApiProblem)) throw problem;
    // 401: signed out already is as good. "left-here": this browser is, and the server is not.
    if (problem.kind === "left-here") await tell("Signed out here only", problem.message, "Sign in again");
    else if (problem.status !== 401) return tell("Not signed out", `${problem.message} You are still signed in here: try again.`, "Close");
  }
  window.location.assign(at("sign-in"));
}

// Light or dark: what was chosen on any page of this browser, else what the system says (Gradio follows that).
const THEME = "cirque.theme";

function applyTheme() {
  const asked = new URL(window.location.href).searchParams.get("__theme");
  let chosen = null;
  try { chosen = localStorage.getItem(THEME); } catch { /* private windows may not store anything */ }
  if (!asked && chosen) document.body.classList.toggle("dark", chosen === "dark");
}
applyTheme();

export function toggleTheme() {
  const dark = document.body.classList.toggle("dark");
  try { localStorage.setItem(THEME, dark ? "dark" : "light"); } catch { /* as above */ }
}
