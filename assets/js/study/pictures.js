// The two pictures of an item, side by side. A loupe follows the mouse over both at the same
// place; z blows both up; a click shows one of them large.
import { at, h } from "./elements.js";
import { enlarge } from "./large.js";

const ZOOM = 2.6;
const fetched = new Map(); // address → an Image that is decoded already
const FETCHED_KEPT = 160;

// Fetch and decode what will be shown soon.
export function fetchAhead(addresses) {
  for (const address of addresses.map(at)) {
    if (fetched.has(address)) continue;
    const image = new Image();
    image.src = address;
    image.decode().catch(() => fetched.delete(address)); // shown from the server then
    fetched.set(address, image);
    if (fetched.size > FETCHED_KEPT) fetched.delete(fetched.keys().next().value);
  }
}
// An <img> of its own for each call; the decoded one where there is one.
export function imageOf(address, props = {}) {
  const image = fetched.get(at(address));
  fetched.delete(at(address));
  const element = image && !image.isConnected ? image : h("img", { src: at(address), decoding: "sync" });
  for (const [name, value] of Object.entries({ alt: "", draggable: "false", ...props })) element.setAttribute(name, value);
  return element;
}

export function createPictures() {
  const sides = [side("Reference"), side("Target")];
  const element = h("div", { class: "st-pictures" }, sides.map(({ figure }) => figure));
  let zoomed = false;

  function side(name) {
    const frame = h("button", { class: "st-frame", type: "button" });
    const figure = h("figure", { class: "st-picture" }, frame, h("figcaption", { class: "cq-label", text: name }));
    const own = { name, frame, figure, lens: h("span", { class: "st-lens", "aria-hidden": "true" }), image: null, given: null };
    frame.addEventListener("click", () => own.image && large(own));
    frame.addEventListener("pointermove", (event) => event.pointerType === "mouse" && own.image && look(...within(own, event)));
    frame.addEventListener("pointerleave", () => look(null));
    return own;
  }

  // Where the mouse is in the picture itself, each from 0 to 1.
  function within({ image }, event) {
    const box = image.getBoundingClientRect();
    const scale = zoomed ? ZOOM : 1;
    const clip = image.parentElement.getBoundingClientRect();
    const [width, height] = [box.width / scale, box.height / scale];
    const [left, top] = zoomed ? [clip.left + (clip.width - width) / 2, clip.top + (clip.height - height) / 2] : [box.left, box.top];
    return [(event.clientX - left) / width, (event.clientY - top) / height].map((it) => Math.min(1, Math.max(0, it)));
  }

  function look(x, y) {
    for (const { frame, lens, image } of sides) {
      const show = x !== null && image && !zoomed;
      lens.hidden = !show;
      if (x === null || !image) continue;
      frame.style.setProperty("--x", `${100 * x}%`);
      frame.style.setProperty("--y", `${100 * y}%`);
      if (!show) continue;
      const [width, height] = [image.offsetWidth, image.offsetHeight];
      lens.style.left = `${image.offsetLeft + x * width}px`;
      lens.style.top = `${image.offsetTop + y * height}px`;
      lens.style.backgroundSize = `${ZOOM * width}px ${ZOOM * height}px`;
      const half = lens.offsetWidth / 2;
      lens.style.backgroundPosition = `${half - ZOOM * x * width}px ${half - ZOOM * y * height}px`;
    }
  }

  const large = (own) => {
    const there = sides.filter(({ image }) => image);
    return enlarge(there.map(({ name, given }) => ({ name, large: given.large })), there.indexOf(own))
      .then(() => own.frame.focus({ preventScroll: true }));
  };

  function zoom(on) {
    zoomed = on;
    element.classList.toggle("zoomed", on);
    look(null);
    if (!on) for (const { frame } of sides) frame.style.cssText = "";
  }

  return {
    element,
    zoom,
    get zoomed() { return zoomed; },
    // dx, dy: -1, 0 or 1
    pan(dx, dy) {
      for (const { frame } of sides) {
        for (const [name, by] of [["--x", dx], ["--y", dy]]) {
          const now = parseFloat(frame.style.getPropertyValue(name) || "50");
          frame.style.setProperty(name, `${Math.min(100, Math.max(0, now + 15 * by))}%`);
        }
      }
    },
    show({ reference, target }) {
      zoom(false);
      [reference, target].forEach((given, number) => {
        const own = sides[number];
        own.given = given;
        own.image = given.missing ? null : imageOf(given.large, { width: given.width, height: given.height, alt: `${own.name} picture` });
        own.frame.disabled = !own.image;
        own.frame.setAttribute("aria-label", own.image ? `${own.name} picture: show it large` : `${own.name}: the picture is not at hand`);
        own.lens.style.backgroundImage = own.image ? `url("${at(given.large)}")` : "none";
        own.lens.hidden = true;
        const missing = h("span", { class: "st-missing", text: "This picture is not at hand." });
        own.frame.replaceChildren(own.image ?? missing, own.lens);
        own.image?.addEventListener("error", (event) => event.target.replaceWith(missing), { once: true });
      });
    },
  };
}
