// Items on which people differ, in a panel at the side: pictures, text, what each person answered, what was decided.
import { api, at, closer, dialog, h, messageOf, once, say } from "../../shared/common.js";
import { enlarge } from "../../shared/pictures.js";
import { chip, count, plural } from "../../shared/words.js";

const PAGE = 20;

/**
 * @param {{ query: URLSearchParams, both: string[], asked: string, of: { a?: number, b?: number, key?: string }, from: HTMLElement | null }} what
 * ``of``: seats of two people and what they were asked, or {} for all on which anybody differs; ``both``: names of the two, if there are two; ``asked``: what
 * they were asked, in words; the focus goes back to ``from``
 */
export function showDisputed({ query, both, asked, of, from }) {
  const title = both.length ? `Disputed items of ${both.join(" and ")}` : "Disputed items";
  const about = [asked, both.length ? "all answers to each, these two highlighted" : "all answers to each"].filter(Boolean).join(" · ");
  const list = h("ol", { class: "cq-an-disputes", role: "list" }), status = h("p", { class: "cq-quiet", role: "status", text: "Loading…" });
  const more = h("button", { class: "cq-btn", type: "button", hidden: true, onclick: () => next(true) });
  const body = h("div", { class: "st-sheetbody", tabindex: "-1" }, list, more);
  const panel = dialog({ class: "cq-sheet cq-an-sheet", "aria-label": title },
    h("header", {}, h("div", {}, h("h2", { text: title, dir: "auto" }), h("p", { class: "cq-quiet", text: about.slice(0, 1).toUpperCase() + about.slice(1) })), closer()), status, body);
  let busy = false;

  async function next(/** @type {boolean} */ focus) {
    if (busy) return;
    busy = true;
    more.disabled = true;
    try {
      const params = new URLSearchParams(query);
      for (const [name, value] of Object.entries({ ...of, offset: list.childElementCount, limit: PAGE })) params.set(name, String(value));
      const { total, items, study } = await api("GET", `analysis/disputed?${params}`);
      const cards = items.map((it) => card(it, study, both));
      list.append(...cards);
      status.textContent = total ? `${plural(total, "item")}, ${count(list.childElementCount)} shown` : "They agree on every item they both judged.";
      more.hidden = list.childElementCount >= total || !items.length;
      more.textContent = `Show ${count(Math.min(PAGE, total - list.childElementCount))} more`;
      if (focus) cards[0]?.focus({ preventScroll: true });
      else say(status.textContent);
    } catch (error) {
      status.textContent = messageOf(error);
      more.hidden = false;
      more.textContent = "Try again";
    } finally {
      busy = false;
      more.disabled = false;
    }
  }

  once(panel).then(() => from?.focus({ preventScroll: true }));
  body.focus({ preventScroll: true });
  next(false);
  return panel;
}

/** @type {(of: Disputed, study: string, both: string[]) => HTMLElement} */
function card({ item, key, dataset, category, text, reference, target, answers, decided }, study, both) {
  const address = (/** @type {string} */ token, /** @type {string} */ size) => `study/image/${study}/${token}-${size}.webp`;
  const pictures = [["Reference", reference], ["Target", target]], there = pictures.filter(([, token]) => token);
  const large = there.map(([name, token]) => ({ name, large: address(token, "l") }));
  const gone = () => h("span", { class: "st-missing", text: "Image unavailable" });
  const frames = pictures.map(([name, token]) => {
    /** @type {HTMLButtonElement} */
    const frame = h("button", { type: "button", class: "cq-an-picture", disabled: !token, "aria-label": `${name}: enlarge`,
      onclick: () => enlarge(large, there.findIndex(([of]) => of === name)).then(() => { frame.focus(); }) },
    token ? h("img", { src: at(address(token, "s")), alt: "", loading: "lazy", onerror: (event) => {
      event.target.replaceWith(gone());
      frame.disabled = true;
    } }) : gone(), h("small", { text: name }));
    return frame;
  });
  return h("li", { tabindex: "-1", "data-item": item },
    h("p", { class: "cq-an-what" }, h("code", { text: key }), dataset ? chip(dataset) : null, category ? chip(category.replaceAll("_", " ")) : null),
    h("div", { class: "cq-an-pair" }, frames),
    h("p", { class: "cq-an-text", text, dir: "auto" }),
    h("dl", {}, answers.map(([name, signature]) => h("div", { class: both.includes(name) ? "marked" : null },
      h("dt", { dir: "auto" }, name, both.includes(name) ? h("span", { class: "sr", text: " (one of the two)" }) : null), h("dd", { text: spoken(signature) })))),
    h("p", { class: "cq-quiet", text: decided ? `Adjudicated: ${spoken(decided)}` : "Not adjudicated" }));
}

// "INVALID_TEXT_QUERY+QUERY_TOO_BROAD" → "Invalid text query + query too broad"
export function spoken(/** @type {string} */ signature) {
  const words = String(signature).split("+").map((flag) => (/^[A-Z_]+$/.test(flag.trim()) ? flag.trim().replaceAll("_", " ").toLowerCase() : flag.trim())).join(" + ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
