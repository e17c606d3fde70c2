// The soft filter's chips: what a result must show, and must not.
import { h, on } from "../../shared/common.js";
import { onDraw, soon, waits } from "../actions.js";
import { $, $$, shown } from "../page.js";
import { edit, finishEdit, isEditing, restoreEdit } from "./editing.js";

const facets = (/** @type {HTMLElement} */ side) => $$(".cq-facet .text", side);
const value = (/** @type {HTMLElement} */ text) => text.dataset.new ?? text.dataset.facet ?? "";
let refocus = /** @type {{ side: string, at?: number, add: boolean } | null} */ (null); // where the keyboard goes on after the chips have been drawn anew

const sideOf = (/** @type {Element} */ element) => /** @type {HTMLElement & { dataset: { side: string } }} */ (element.closest("[data-side]"));
const drawn = () => Object.fromEntries($$("[data-filter] [data-side]").map((one) => [one.dataset.side, facets(one).map(value).filter(Boolean)]));
// What was asked for and is not drawn yet: the next change adds to it.
let wanted = /** @type {{ turn?: string, constraints: Record<string, string[]> } | null} */ (null);
function send(/** @type {string} */ name, /** @type {string} */ from, /** @type {string} */ to) {
  const { turn } = shown();
  if (!wanted || wanted.turn !== turn) wanted = { turn, constraints: drawn() };
  const constraints = { ...wanted.constraints };
  const texts = [...constraints[name] || []];
  const at = from ? texts.indexOf(from) : -1;
  texts.splice(at < 0 ? texts.length : at, at < 0 ? 0 : 1, ...(to ? [to] : []));
  constraints[name] = texts;
  wanted.constraints = constraints;
  soon("adjust", { constraints, edited: drawnSide(name)?.dataset.kind });
}
function change(/** @type {HTMLElement} */ text, /** @type {string} */ to) {
  const side = sideOf(text);
  refocus = { side: side.dataset.side, at: Math.max(0, facets(side).indexOf(text) - (to ? 0 : 1)), add: !to && facets(side).length === 1 };
  send(side.dataset.side, value(text), to);
  text.dataset.new = to;
  text.closest(".cq-facet")?.classList.toggle("leaving", !to);
}
const drawnSide = (/** @type {string} */ name) => $(`[data-filter] [data-side=${name}]`);
function alter(/** @type {HTMLElement} */ started) {
  const { side } = sideOf(started).dataset;
  const facet = value(started);
  edit(started, {
    find: (now) => {
      const there = drawnSide(side);
      if (!there) return null;
      // Its chip may be gone: then it goes on as a new one.
      return facets(there).find((text) => value(text) === facet) || (there.contains(now) && !now.dataset.facet ? now : fresh(there));
    },
    done: (to, text) => (text.dataset.facet ? change(text, to) : send(side, "", to)),
  });
}
function fresh(/** @type {HTMLElement} */ side) {
  const button = $("[data-add]", side);
  const text = h("span", { class: "text", role: "textbox", "aria-label": `New text under ${side.getAttribute("aria-label")}`,
    "data-facet": "", "data-hint": button?.dataset.example });
  button?.closest("li")?.before(h("li", { class: "cq-facet fresh" }, text));
  return text;
}
function add(/** @type {HTMLElement} */ button) {
  const name = sideOf(button).dataset.side;
  finishEdit(true);
  edit(fresh(sideOf(button)), {
    find: (now) => {
      const there = drawnSide(name);
      if (there && there.contains(now) && now.dataset.facet === "" && now.closest(".fresh")) return now;
      now.closest(".fresh")?.remove();
      return there && fresh(there);
    },
    done: (to, text) => {
      refocus = { side: name, add: true };
      send(name, "", to);
      text.dataset.new = to;
    },
    gone: (byKey, text) => {
      text.closest(".fresh")?.remove();
      if (byKey) $(`[data-filter] [data-side=${name}] [data-add]`)?.focus();
    },
  });
}

// Kept outside the panel, which is drawn anew under a text that is being edited: what is hidden cannot keep the focus.
const UNFOLDED = "cq-unfolded";
const drawFold = () => $("[data-attributes]")?.setAttribute("aria-expanded", String(document.body.classList.contains(UNFOLDED)));

on("click", ({ target }) => {
  if (target.closest("[data-attributes]")) {
    document.body.classList.toggle(UNFOLDED);
    return drawFold();
  }
  const hit = target.closest("[data-off], [data-add], [data-mode], .cq-facet .text");
  if (!hit) return;
  if (hit.matches("[data-off]")) {
    const text = $(".text", hit.closest(".cq-facet") ?? hit);
    if (text) change(text, "");
  } else if (hit.matches("[data-add]")) add(hit);
  else if (hit.matches("[data-mode]")) soon("adjust", { mode: hit.dataset.mode });
  else alter(hit);
});

on("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.isContentEditable) return;
  const target = event.target;
  if (target.matches?.("[data-mode]") && /^Arrow/.test(event.key)) {
    event.preventDefault();
    const all = $$("[data-mode]", target.parentElement ?? target);
    const to = all[(all.indexOf(target) + (/Left|Up/.test(event.key) ? all.length - 1 : 1)) % all.length];
    to.focus();
    return soon("adjust", { mode: to.dataset.mode });
  }
  const stop = target.closest?.(".cq-facet .text, [data-add]");
  if (!stop) return;
  const stops = $$(".cq-facet .text, [data-add]", sideOf(stop));
  const at = stops.indexOf(stop);
  /** @type {Record<string, () => void>} */
  const does = {
    ArrowLeft: () => stops[at - 1]?.focus(), ArrowRight: () => stops[at + 1]?.focus(),
    Home: () => stops[0].focus(), End: () => stops[stops.length - 1].focus(),
  };
  if (stop.matches(".text")) {
    does.Enter = does.F2 = does[" "] = () => alter(stop);
    does.Delete = does.Backspace = () => change(stop, "");
  }
  if (!does[event.key]) return;
  event.preventDefault();
  does[event.key]();
});

onDraw(({ action }) => {
  drawFold();
  if (!waits()) wanted = null;
  for (const chip of $$(".cq-facet.fresh")) if (!$(".editing", chip)) chip.remove();
  for (const text of $$(".cq-facet .text")) {
    if (text.isContentEditable) continue;
    delete text.dataset.new;
    text.closest(".cq-facet")?.classList.remove("leaving");
    if (text.textContent !== text.dataset.facet) text.textContent = text.dataset.facet ?? "";
  }
  if (isEditing()) {
    restoreEdit();
    refocus = null;
    return;
  }
  if (action === "filter") $("[data-side=prescriptive] [data-add]")?.focus();
  if (action === "adjust" && refocus) {
    const side = drawnSide(refocus.side);
    if (side && (document.activeElement === document.body || document.activeElement?.closest("[data-filter]"))) {
      (refocus.add ? $("[data-add]", side) : facets(side)[refocus.at ?? -1] || $("[data-add]", side))?.focus();
    }
    refocus = null;
  }
});

window.addEventListener("beforeunload", (event) => { if ($(".cq-changes[data-unkept]")) event.preventDefault(); });
