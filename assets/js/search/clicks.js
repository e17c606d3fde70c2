// What the attributes in the templates mean: data-act, data-drawer, data-open, data-copy, …
import { askText, copy, on, showKeys, toggleTheme } from "../shared/common.js";
import { enlarge } from "../shared/pictures.js";
import { weights } from "../shared/weights.js";
import { act } from "./actions.js";
import { linkTo } from "./address.js";
import { closeDrawers, openDrawer } from "./drawers.js";
import { $ } from "./page.js";
import { pick, play } from "./picker.js";
import { ask } from "./query.js";
import { browse } from "./reference.js";
import { cutOut } from "./region.js";
import { present } from "./presentation.js";
import { toggleFold } from "./restore.js";
import { found, refine } from "./results/selection.js";

const OPENS = /** @type {Record<string, () => void>} */ ({ theme: toggleTheme, keys: showKeys, play, weights, presentation: () => present() });

// The first that fits, from the element inwards out.
/** @type {Record<string, (data: Record<string, string>, hit: HTMLElement) => unknown>} */
const CLICKS = {
  "[data-act]": ({ act: name, ...data }) => { closeDrawers(); act(name, data); },
  "[data-drawer-close]": closeDrawers,
  "button[data-drawer]": ({ drawer }, button) => openDrawer(drawer, button),
  "[data-large]": ({ large, caption }) => enlarge([{ name: caption || "", large }]),
  "[data-fold-of]": ({ foldOf }) => toggleFold(foldOf),
  "[data-picker]": ({ picker }) => pick(picker),
  "[data-upload]": () => browse(),
  "[data-region]": (_, button) => cutOut(button),
  "[data-instead]": ({ instead: text }) => act("search", { text, instead: true }),
  "[data-chip]": ({ chip }) => ask(chip),
  "[data-found]": () => found(),
  "[data-refine]": ({ refine: image }) => refine(image || undefined),
  "[data-rename]": ({ rename, name }) => nameBranch(rename, name),
  "[data-copy]": ({ copy: what, text }) => (what === "link" ? copyLink() : copy(text, { message: "Copied." })),
  "[data-open]": ({ open }) => OPENS[open]?.(),
};
on("click", (event) => {
  for (const [selector, does] of Object.entries(CLICKS)) {
    const hit = event.target.closest(selector);
    if (hit) return does(/** @type {Record<string, string>} */ (hit.dataset), hit);
  }
});

on("change", ({ target: box }) => {
  if (box.matches("[data-live]")) act("live", { on: box.checked });
  if (box.matches("[data-side]")) {
    const sides = { left: box.dataset.left, right: box.dataset.right };
    sides[box.dataset.side === "0" ? "left" : "right"] = box.value;
    act("compare", sides);
  }
});

const SHARED = "Anyone who opens it can continue the session on their own branch.";
function copyLink() {
  const columns = $("#results .cq-columns");
  return copy(linkTo(window.location.href), { message: $("[data-unkept]") ? "Link copied. Your unsaved changes are not included: keep them as a turn first."
    : columns ? `Link copied. It shows this comparison${columns.dataset.blind ? ", without the names of the methods until a vote" : ""}.` : `Link copied. It shows this turn as you see it. ${SHARED}` });
}

async function nameBranch(/** @type {string} */ branch, /** @type {string} */ before) {
  const name = await askText("Name this branch", before, "for example: darker, with collar");
  if (name !== null) act("name_branch", { branch, name });
}
