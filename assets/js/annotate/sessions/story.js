// A session as a story: an image, what was said about it, the next image, and last the target.
import { h } from "../../shared/common.js";
import { enlarge, imageOf } from "../../shared/pictures.js";
import { t } from "../../shared/language.js";

const IN_A_ROW = 4; // more steps take a second row

// Of frames that fit most of these images: the median of width by height, within bounds.
function shapeOf(/** @type {Picture[]} */ images) {
  const shapes = images.flatMap((image) => (image.missing ? [] : [image.width / image.height])).sort((one, other) => one - other);
  return Math.min(1.5, Math.max(0.72, shapes[Math.floor(shapes.length / 2)] ?? 1));
}

export function createStory() {
  const element = h("ol", { class: "ss-story" });
  let steps = /** @type {{ name: string, said: string, image: Picture, frame: HTMLButtonElement }[]} */ ([]);

  // Every image there is, from this one on; the arrows lead through them.
  function large(/** @type {number} */ number) {
    const there = steps.flatMap(({ image, name, said }, place) => (image.missing ? [] : [{ place, name: said ? `${name}: “${said}”` : name, large: image.large }]));
    if (!there.length) return;
    const back = document.activeElement;
    enlarge(there, Math.max(0, there.findIndex(({ place }) => place === number))).then(() => { if (back instanceof HTMLElement) back.focus({ preventScroll: true }); });
  }

  function frameOf(/** @type {Picture} */ image, /** @type {string} */ name, /** @type {number} */ number) {
    const missing = h("span", { class: "st-missing", text: t("Image unavailable.") });
    const frame = h("button", { class: "st-frame", type: "button", disabled: Boolean(image.missing), onclick: () => large(number),
      "aria-label": image.missing ? t("{name}: image unavailable", { name }) : t("{name}: enlarge", { name }) });
    if (image.missing) frame.append(missing);
    else {
      const shown = imageOf(image.large, { alt: t("{name}, image", { name }), // blur shows nothing more
        style: `max-width: min(100%, ${2 * image.width}px); max-height: min(100%, ${2 * image.height}px)` });
      shown.addEventListener("error", () => { shown.replaceWith(missing); frame.disabled = true; }, { once: true });
      frame.append(shown);
    }
    return frame;
  }

  return {
    element,
    open(/** @type {SessionItem} */ { turns, target }) {
      const all = [...turns.map(({ image, text }, number) => ({ name: t("Turn {number}", { number: number + 1 }), said: text, image })), { name: t("Target"), said: "", image: target }];
      steps = all.map((step, number) => ({ ...step, frame: frameOf(step.image, step.name, number) }));
      const columns = all.length <= IN_A_ROW ? all.length : Math.min(IN_A_ROW, Math.ceil(all.length / 2));
      element.dataset.columns = String(columns);
      element.style.setProperty("--rows", String(Math.min(2, Math.ceil(all.length / columns))));
      element.style.setProperty("--shape", String(shapeOf(steps.map(({ image }) => image))));
      element.replaceChildren(...steps.map(({ name, said, frame }, number) => {
        const last = number === turns.length;
        const words = said.trim() ? h("blockquote", { class: "ss-said", dir: "auto", text: said })
          : h("p", { class: "ss-said ss-sought", text: last ? t("What was looked for") : t("Nothing was said.") });
        return h("li", { class: last ? "ss-step ss-target" : "ss-step" }, h("p", { class: "cq-label", text: name }), frame, words);
      }));
      element.scrollTop = 0;
    },
    // The image that has the focus, or the first.
    zoom: () => large(Math.max(0, steps.findIndex(({ frame }) => frame === document.activeElement))),
  };
}
