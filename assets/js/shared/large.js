// One picture as large as the window allows; the arrows lead to the others.
import { closer, dialog, once } from "./dialogs.js";
import { at, h } from "./elements.js";

// Resolves when it is closed.
export function enlarge(/** @type {{ name: string, large: string }[]} */ pictures, now = 0) {
  // A small picture is not blown up beyond twice its size: blur shows nothing more.
  const picture = h("img", { alt: "", onload: () => { picture.style.maxWidth = `${Math.max(320, 2 * picture.naturalWidth)}px`; } });
  const caption = h("p", { "aria-live": "polite" });
  const step = (/** @type {number} */ by) => { now = (now + by + pictures.length) % pictures.length; show(); };
  /** @type {(text: string, label: string, by: number) => HTMLElement} */
  const arrow = (text, label, by) => h("button", { class: "cq-step", type: "button", "aria-label": label, text, hidden: pictures.length < 2,
    onclick: () => step(by) });
  const light = dialog({ class: "cq-light cq-lightstudy", "aria-label": "Picture" }, closer(),
    arrow("‹", "Previous image", -1), h("figure", {}, picture, h("figcaption", {}, caption)), arrow("›", "Next image", 1));

  function show() {
    picture.src = at(pictures[now].large);
    picture.alt = pictures[now].name;
    caption.textContent = pictures[now].name;
  }
  light.addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft") step(-1);
    else if (event.key === "ArrowRight") step(1);
    else if (event.key === "z") light.close();
    else return;
    event.preventDefault();
  });
  show();
  return once(light);
}
