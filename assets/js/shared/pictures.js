// The two pictures of an item, side by side. A loupe follows the mouse over both at the same
// place; z blows both up; a click shows one of them large.
import { at, h } from "./elements.js";
import { fetchAgain } from "./fetch-again.js";
import { closer, dialog, once } from "./dialogs.js";
import { meant } from "./key-table.js";
import { t } from "./language.js";

/** @typedef {{ name: string, frame: HTMLButtonElement, figure: HTMLElement, lens: HTMLElement, image: HTMLImageElement | null, given: Picture | null }} Shown */

const ZOOM = 2.6;
const fetched = /** @type {Map<string, HTMLImageElement>} */ (new Map()); // address → an Image that is decoded already
const FETCHED_KEPT = 640;

// Fetch what will be shown, and decode what will be ``soon``.
export function fetchAhead(/** @type {string[]} */ addresses, { soon = true } = {}) {
  for (const address of addresses.map(at)) {
    const there = fetched.get(address), image = there ?? new Image();
    const failed = () => fetched.delete(address); // shown from the server then
    if (!there) {
      image.onerror = failed;
      if (!soon) image.fetchPriority = "low";
      image.src = address;
      fetched.set(address, image);
    }
    if (soon) image.decode().catch(failed);
    if (fetched.size > FETCHED_KEPT) fetched.delete([...fetched.keys()][0]);
  }
}
// An <img> of its own for each call; the decoded one where there is one.
/** @param {string} address @param {Props} props @returns {HTMLImageElement} */
export function imageOf(address, props = {}) {
  const image = fetched.get(at(address));
  fetched.delete(at(address));
  const element = image && !image.isConnected ? image : h("img", { src: at(address), decoding: "sync" });
  for (const [name, value] of Object.entries({ alt: "", draggable: "false", ...props })) element.setAttribute(name, String(value));
  return element;
}

export function createPictures() {
  const sides = [side(t("Reference")), side(t("Target"))];
  const element = h("div", { class: "st-pictures" }, sides.map(({ figure }) => figure));
  let zoomed = false, spot = [0.5, 0.5];

  /** @param {string} name @returns {Shown} */
  function side(name) {
    const frame = h("button", { class: "st-frame", type: "button" });
    const figure = h("figure", { class: "st-picture" }, frame, h("figcaption", { class: "cq-label", text: name }));
    /** @type {Shown} */
    const own = { name, frame, figure, lens: h("span", { class: "st-lens", "aria-hidden": "true" }), image: null, given: null };
    frame.addEventListener("click", () => own.image && large(own));
    frame.addEventListener("pointermove", (event) => event.pointerType === "mouse" && look(within(own, event)));
    frame.addEventListener("pointerleave", () => look(null));
    return own;
  }

  // Where the picture itself lies in its frame: it keeps its shape.
  function box(/** @type {HTMLImageElement} */ image, /** @type {ShownPicture} */ given) {
    const { offsetWidth, offsetHeight, offsetLeft, offsetTop } = image;
    const scale = Math.min(offsetWidth / given.width, offsetHeight / given.height);
    const [width, height] = [given.width * scale, given.height * scale];
    return { width, height, left: offsetLeft + (offsetWidth - width) / 2, top: offsetTop + (offsetHeight - height) / 2 };
  }
  // The point under the mouse, each way from 0 to 1 of the picture.
  function within(/** @type {Shown} */ own, /** @type {PointerEvent} */ event) {
    if (!own.image || !own.given || own.given.missing) return null;
    const [outer, inner] = [own.frame.getBoundingClientRect(), box(own.image, own.given)];
    return [(event.clientX - outer.left - inner.left) / inner.width, (event.clientY - outer.top - inner.top) / inner.height]
      .map((it) => Math.min(1, Math.max(0, it)));
  }

  // Show the same place of both: in a lens, or where they are blown up.
  function look(/** @type {number[] | null} */ place) {
    if (place) spot = place;
    for (const own of sides) {
      own.lens.hidden = !place || zoomed || !own.image;
      if (!own.image || !own.given || own.given.missing || (!place && !zoomed)) continue;
      const { left, top, width, height } = box(own.image, own.given);
      const [dx, dy] = [spot[0] * width, spot[1] * height];
      own.image.style.transformOrigin = `${left + dx - own.image.offsetLeft}px ${top + dy - own.image.offsetTop}px`;
      if (own.lens.hidden) continue;
      const half = own.lens.offsetWidth / 2;
      Object.assign(own.lens.style, { left: `${left + dx}px`, top: `${top + dy}px`, backgroundSize: `${ZOOM * width}px ${ZOOM * height}px`,
        backgroundPosition: `${half - ZOOM * dx}px ${half - ZOOM * dy}px` });
    }
  }

  const large = (/** @type {Shown} */ own) => {
    const there = sides.filter(({ image }) => image);
    return enlarge(there.map(({ name, given }) => ({ name, large: given?.large ?? "" })), there.indexOf(own))
      .then(() => own.frame.focus({ preventScroll: true }));
  };

  function zoom(/** @type {boolean} */ on) {
    zoomed = on;
    element.classList.toggle("zoomed", on);
    look(null);
  }

  return {
    element,
    zoom,
    get zoomed() { return zoomed; },
    /** @type {(dx: number, dy: number) => void} -1, 0 or 1 */
    pan: (dx, dy) => look([[spot[0], dx], [spot[1], dy]].map(([now, by]) => Math.min(1, Math.max(0, now + 0.15 * by)))),
    show(/** @type {{ reference: Picture, target: Picture }} */ { reference, target }) {
      spot = [0.5, 0.5];
      zoom(false);
      [reference, target].forEach((given, number) => {
        const own = sides[number];
        own.given = given;
        own.image = given.missing ? null : imageOf(given.large, { alt: t("{name} image", { name: own.name }), // blur shows nothing more
          style: `max-width: min(100%, ${2 * given.width}px); max-height: min(100%, ${2 * given.height}px)` });
        own.frame.disabled = !own.image;
        own.frame.setAttribute("aria-label", own.image ? t("{name}: enlarge", { name: own.name }) : t("{name}: image unavailable", { name: own.name }));
        own.lens.style.backgroundImage = given.missing ? "none" : `url("${at(given.large)}")`;
        own.lens.hidden = true;
        const missing = h("span", { class: "st-missing", text: t("Image unavailable.") });
        own.frame.replaceChildren(own.image ?? missing, own.lens);
        const shown = own.image;
        shown?.addEventListener("error", () => {
          if (fetchAgain(shown)) return;
          shown.replaceWith(missing);
          if (own.image === shown) own.image = null;
        });
      });
    },
  };
}

// One picture as large as the window allows; the arrows lead to the others.
// Resolves when it is closed.
export function enlarge(/** @type {{ name: string, large: string }[]} */ pictures, now = 0) {
  // A small picture is not blown up beyond twice its size: blur shows nothing more.
  const picture = h("img", { alt: "", onload: () => { picture.style.maxWidth = `${Math.max(320, 2 * picture.naturalWidth)}px`; } });
  const caption = h("p", { "aria-live": "polite" });
  const step = (/** @type {number} */ by) => { now = (now + by + pictures.length) % pictures.length; show(); };
  /** @type {(text: string, label: string, by: number) => HTMLElement} */
  const arrow = (text, label, by) => h("button", { class: "cq-step", type: "button", "aria-label": label, text, hidden: pictures.length < 2,
    onclick: () => step(by) });
  const light = dialog({ class: "cq-light cq-lightstudy", "aria-label": t("Picture") }, closer(),
    arrow("‹", t("Previous image"), -1), h("figure", {}, picture, h("figcaption", {}, caption)), arrow("›", t("Next image"), 1));

  function show() {
    picture.src = at(pictures[now].large);
    picture.alt = pictures[now].name;
    caption.textContent = pictures[now].name;
  }
  light.addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft") step(-1);
    else if (event.key === "ArrowRight") step(1);
    else if (meant(event.key) === "z") light.close();
    else return;
    event.preventDefault();
  });
  show();
  return once(light);
}
