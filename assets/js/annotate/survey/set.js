// One of the two sets: its pictures in a row, and the scale on which it is rated as a whole.
import { h, kbd, tellIn } from "../../shared/common.js";
import { imageOf } from "../../shared/pictures.js";
import { createChoice } from "../choice.js";

const SHARP = 1.3; // pixels of the screen for one of the page, from which on small pictures are not enough

/**
 * @param {Side} side
 * @param {Survey} page
 * @param {(what: "rate" | "active", side: Side, rating?: number) => void} act
 * @param {(image: ShownPicture) => void} large shows one large
 */
export function createSet(side, page, act, large) {
  const place = side === "A" ? 0 : 1;
  const name = page.set_names[place];
  const scale = createChoice({ class: "sv-scale", label: page.questions.ratings[place], pick: (rating) => act("rate", side, rating),
    options: page.scale.map(({ value, name: words }) => ({ value, label: `${value}: ${words}`, content: [h("b", { text: value }), h("small", { text: words })] })) });
  const complaint = h("p", { class: "cq-inline", hidden: true, id: `sv-lacks-${side}` });
  const row = h("div", { class: "sv-row" });
  const element = h("section", { class: "sv-set", "aria-label": name, "data-side": side },
    h("div", { class: "sv-sethead" }, h("div", { class: "sv-name" }, h("h2", {}, h("span", { text: name, dir: "auto" }), kbd(side.toLowerCase())),
      h("p", { class: "sv-rates", id: `sv-rates-${side}`, text: page.questions.ratings[place], dir: "auto" }), complaint), scale.element),
    row);
  scale.element.addEventListener("focusin", () => act("active", side));

  return {
    element,
    show(/** @type {Picture[]} */ images) {
      row.replaceChildren(...images.map((image, number) => {
        const label = `${name}, image ${number + 1} of ${images.length}`;
        if (image.missing) return h("div", { class: "sv-picture", role: "img", "aria-label": `${label}: unavailable` }, missing());
        const shown = imageOf(sharp(image.small), { width: image.width, height: image.height });
        const button = h("button", { class: "sv-picture", type: "button", "aria-label": `${label}: enlarge`, "data-token": image.token,
          onclick: () => large(image) }, shown);
        shown.addEventListener("error", () => { button.replaceChildren(missing()); button.disabled = true; }, { once: true });
        return button;
      }));
    },
    draw(/** @type {number | null} */ rating, /** @type {{ active: boolean, locked: boolean, text: string }} */ { active, locked, text }) {
      scale.draw(rating, { disabled: locked });
      element.classList.toggle("active", active && !locked);
      tellIn(complaint, text);
    },
  };
}

// The address of a picture, or of its larger file where this screen shows more than the small one has.
export const sharp = (/** @type {string} */ small) => (window.devicePixelRatio > SHARP ? small.replace(/-s\.webp$/, "-l.webp") : small);
const missing = () => h("span", { class: "st-missing", text: "Image unavailable" });
