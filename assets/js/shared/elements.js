// Elements from plain values, and the small things every screen needs. Text is always set as
// text: nothing here is parsed as HTML.

// The app's own address, whatever path it is mounted under, and that of this version's files.
export const ROOT = new URL(import.meta.url.replace(/own\/[^/]+\/js\/.*$/, ""));
export const OWN = new URL(import.meta.url.replace(/js\/[^?#]*$/, ""));
export const at = (/** @type {string} */ path) => new URL(path.replace(/^\//, ""), ROOT).href;

/** @template {Element} E @param {E} element @param {Props | null} props @param {Child[]} children */
function put(element, props, children) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") element.textContent = String(value);
    else if (name === "value") Object.assign(element, { value });
    else if (name.startsWith("on") && typeof value === "function") element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  const flat = /** @type {(Node | string)[]} */ (children.flat(/** @type {1} */ (Infinity)));
  element.append(...flat.filter((child) => child !== null && child !== undefined && /** @type {unknown} */ (child) !== false));
  return element;
}

// h("button", { class: "cq-btn", onclick: save, "aria-pressed": String(on) }, "Save", kbd("Enter"))
/** @type {<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, props?: Props, ...children: Child[]) => HTMLElementTagNameMap[Tag]} */
export const h = (tag, props = {}, ...children) => put(document.createElement(tag), props, children);

// document.addEventListener: for what the server draws anew, and for keys.
/** @type {<Name extends keyof DocumentEventMap>(name: Name, hears: (event: On<DocumentEventMap[Name], Document, From<Name>>) => unknown, capture?: boolean) => void} */
export const on = (name, hears, capture) => document.addEventListener(name, /** @type {EventListener} */ (hears), capture);

// At mousedown: a click does not take the focus, so the keys of the page go on working.
export const stay = (/** @type {Event} */ event) => event.preventDefault();
// The text of a line that is hidden while it has none.
export function tellIn(/** @type {HTMLElement} */ line, /** @type {string | null | undefined} */ text) {
  line.textContent = text ?? "";
  line.hidden = !text;
}
/** @type {(label: string, input: HTMLElement, title?: string) => HTMLElement} */
export const field = (label, input, title) => h("label", { class: "cq-field", title }, h("span", { text: label }), input);

// A button whose state can be told from its look and by ear.
export const toggle = (/** @type {Element} */ element, /** @type {unknown} */ on) => element.setAttribute("aria-pressed", String(Boolean(on)));

const SVG = "http://www.w3.org/2000/svg";
const PATHS = {
  moon: "M15.5 12.2A6.2 6.2 0 0 1 7.8 4.5a6.2 6.2 0 1 0 7.7 7.7z",
  keys: "M3 6h14v8H3zM6 9h.01M9 9h.01M12 9h.01M14.5 9h.01M7 11.8h6",
  check: "m4.5 10.5 3.6 3.6 7.4-8.2",
  book: "M4 4.5h5a2 2 0 0 1 1 .4 2 2 0 0 1 1-.4h5v11h-5a2 2 0 0 0-1 .4 2 2 0 0 0-1-.4H4zM10 5v10.5",
  grid: "M4 4h5v5H4zM11 4h5v5h-5zM4 11h5v5H4zM11 11h5v5h-5z",
  loupe: "M8.8 4.2a4.6 4.6 0 1 0 0 9.2 4.6 4.6 0 0 0 0-9.2zm3.4 8 4 4",
  left: "m12 4.5-5.5 5.5 5.5 5.5",
  right: "m8 4.5 5.5 5.5L8 15.5",
  close: "m5.5 5.5 9 9m0-9-9 9",
  ask: "M7.2 7.4A2.9 2.9 0 1 1 10 11v1.2M10 15h.01",
};
export function icon(/** @type {keyof typeof PATHS} */ name) {
  const drawing = document.createElementNS(SVG, "svg");
  put(drawing, { class: "ico", viewBox: "0 0 20 20", "aria-hidden": "true", focusable: "false" }, []);
  drawing.append(put(document.createElementNS(SVG, "path"), { d: PATHS[name] }, []));
  return drawing;
}

// A name for one press of a button: 32 hex digits, also on plain http.
export const token = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

// --- saying something ----------------------------------------------------------------------

/** @type {HTMLElement | undefined} */
let region; // made when it is needed, as is the other: this module can be imported where there is no page
export function say(/** @type {string | null} */ text) {
  region ??= h("div", { class: "sr", "aria-live": "polite", id: "cq-said" });
  if (!region.isConnected) document.body.append(region);
  region.textContent = text;
}

/** @type {HTMLElement | undefined} */
let bubble;
let hiding = 0;
/** @param {string} text @param {{ text: string, act(): unknown } | null} offer a button, which one has longer for */
export function toast(text, offer = null) {
  const shown = bubble ??= h("div", { class: "cq-toast", role: "status" });
  if (!shown.isConnected) document.body.append(shown);
  const end = () => {
    clearTimeout(hiding);
    shown.classList.remove("show");
    button?.remove();
  };
  const endUnlessUsed = () => {
    if (button?.matches(":focus, :hover")) hiding = setTimeout(endUnlessUsed, 2600);
    else end();
  };
  const button = offer && h("button", { type: "button", text: offer.text, onclick: () => { end(); offer.act(); } });
  shown.replaceChildren(text, button ?? "");
  shown.classList.add("show");
  clearTimeout(hiding);
  hiding = setTimeout(endUnlessUsed, Math.max(offer ? 20000 : 2600, 55 * text.length));
}

// --- keeping something in this browser -------------------------------------------------------

// Another cirque may be served below another path of this host, and storage is the host's.
const PLACE = /^https?:/.test(ROOT.protocol) && ROOT.pathname !== "/" ? ROOT.pathname : "";

const keeper = (/** @type {() => Storage} */ storage) => ({
  /** @template T @param {string} key @param {T} otherwise @returns {T} */
  read(key, otherwise) {
    try {
      return JSON.parse(storage().getItem(PLACE + key) ?? "null") ?? otherwise;
    } catch {
      return otherwise;
    }
  },
  /** Says whether it is kept: private windows and full disks may refuse. @param {string} key @param {unknown} value null: nothing */
  write(key, value) {
    try {
      if (value === null) storage().removeItem(PLACE + key);
      else storage().setItem(PLACE + key, JSON.stringify(value));
      return true;
    } catch {
      return false;
    }
  },
});
export const kept = keeper(() => localStorage);
export const keptInTab = keeper(() => sessionStorage);

// A style sheet of this version, e.g. style("study"); resolves when it applies (or cannot be had).
export const style = (/** @type {string} */ name) => new Promise((resolve) => {
  const href = new URL(`css/${name}.css`, OWN).href;
  if (document.querySelector(`link[href="${href}"]`)) return resolve(null);
  const link = h("link", { rel: "stylesheet", href, onload: resolve, onerror: resolve });
  document.head.append(link);
});

export const typing = (/** @type {EventTarget | null} */ element) => element instanceof HTMLElement
  && (element.isContentEditable || element.matches("input:not([type=checkbox], [type=radio], [type=range]), textarea, select"));
