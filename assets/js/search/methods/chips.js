// The soft filter's chips: what a result must show, and must not.
import { h } from "../../shared/common.js";
import { onDraw, soon, waits } from "../actions.js";
import { $, $$, shown } from "../page.js";
import { edit, finishEdit, isEditing, restoreEdit } from "./editing.js";

const facets = (side) => $$(".cq-facet .text", side);
const value = (text) => text.dataset.new ?? text.dataset.facet;
let refocus = null; // where the keyboard goes on after the chips have been drawn anew

const drawn = () => Object.fromEntries($$("[data-filter] [data-side]").map((one) => [one.dataset.side, facets(one).map(value).filter(Boolean)]));
// What was asked for and is not drawn yet: the next change adds to it.
let wanted = null;
function send(side, from, to) {
  const { turn } = shown();
  if (wanted?.turn !== turn) wanted = { turn, constraints: drawn() };
  const constraints = { ...wanted.constraints };
  const texts = [...constraints[side.dataset.side] || []];
  const at = from ? texts.indexOf(from) : -1;
  texts.splice(at < 0 ? texts.length : at, at < 0 ? 0 : 1, ...(to ? [to] : []));
  constraints[side.dataset.side] = texts;
  wanted.constraints = constraints;
  soon("adjust", { constraints, edited: side.dataset.kind });
}
function change(text, to) {
  const side = text.closest("[data-side]");
  const from = value(text);
  refocus = { side: side.dataset.side, at: Math.max(0, facets(side).indexOf(text) - (to ? 0 : 1)), add: !to && facets(side).length === 1 };
  send(side, from, to);
  text.dataset.new = to;
  text.closest(".cq-facet").classList.toggle("leaving", !to);
}
const sideOf = (name) => $(`[data-filter] [data-side=${name}]`);
function alter(started) {
  const { side } = started.closest("[data-side]").dataset;
  const facet = value(started);
  edit(started, {
    find: (now) => {
      const there = sideOf(side);
      if (!there) return null;
      // Its chip may be gone: then it goes on as a new one.
      return facets(there).find((text) => value(text) === facet) || (there.contains(now) && !now.dataset.facet ? now : fresh(there));
    },
    done: (to, text) => (text.dataset.facet ? change(text, to) : send(sideOf(side), "", to)),
  });
}
function fresh(side) {
  const button = $("[data-add]", side);
  const text = h("span", { class: "text", role: "textbox", "aria-label": `New text under ${side.getAttribute("aria-label")}`,
    "data-facet": "", "data-hint": button.dataset.example });
  button.closest("li").before(h("li", { class: "cq-facet fresh" }, text));
  return text;
}
function add(button) {
  const name = button.closest("[data-side]").dataset.side;
  finishEdit(true);
  edit(fresh(sideOf(name)), {
    find: (now) => {
      const there = sideOf(name);
      if (there && there.contains(now) && now.dataset.facet === "" && now.closest(".fresh")) return now;
      now.closest(".fresh")?.remove();
      return there && fresh(there);
    },
    done: (to, text) => {
      refocus = { side: name, add: true };
      send(sideOf(name), "", to);
      text.dataset.new = to;
    },
    gone: (byKey, text) => {
      text.closest(".fresh")?.remove();
      if (byKey) $("[data-add]", sideOf(name))?.focus();
    },
  });
}

document.addEventListener("click", (event) => {
  const on = (selector) => event.target.closest(selector);
  let hit;
  if ((hit = on("[data-off]"))) return change($(".text", hit.closest(".cq-facet")), "");
  if ((hit = on("[data-add]"))) return add(hit);
  if ((hit = on("[data-mode]"))) return soon("adjust", { mode: hit.dataset.mode });
  if ((hit = on(".cq-facet .text"))) return alter(hit);
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.isContentEditable) return;
  const target = event.target;
  if (target.matches?.("[data-mode]") && /^Arrow/.test(event.key)) {
    event.preventDefault();
    const all = $$("[data-mode]", target.parentElement);
    const to = all[(all.indexOf(target) + (/Left|Up/.test(event.key) ? all.length - 1 : 1)) % all.length];
    to.focus();
    return soon("adjust", { mode: to.dataset.mode });
  }
  const stop = target.closest?.(".cq-facet .text, [data-add]");
  if (!stop) return;
  const stops = $$(".cq-facet .text, [data-add]", target.closest("[data-side]"));
  const at = stops.indexOf(stop);
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
  if (!waits()) wanted = null;
  for (const chip of $$(".cq-facet.fresh")) if (!$(".editing", chip)) chip.remove();
  for (const text of $$(".cq-facet .text")) {
    if (text.isContentEditable) continue;
    delete text.dataset.new;
    text.closest(".cq-facet").classList.remove("leaving");
    if (text.textContent !== text.dataset.facet) text.textContent = text.dataset.facet;
  }
  if (isEditing()) {
    restoreEdit();
    refocus = null;
    return;
  }
  if (action === "filter") $("[data-side=prescriptive] [data-add]")?.focus();
  if (action === "adjust" && refocus) {
    const side = $(`[data-filter] [data-side=${refocus.side}]`);
    if (side && (document.activeElement === document.body || document.activeElement?.closest("[data-filter]"))) {
      (refocus.add ? $("[data-add]", side) : facets(side)[refocus.at] || $("[data-add]", side))?.focus();
    }
    refocus = null;
  }
});

window.addEventListener("beforeunload", (event) => { if ($(".cq-changes[data-unkept]")) event.preventDefault(); });
