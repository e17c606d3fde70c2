// Images the search found for the query, folded until wanted, to mark those that fit as well
// as the target. From the tenth on it proposes "too broad"; it never sets it.
import { h, icon, kbd, say, stay } from "../../shared/common.js";
import { BROAD, flagOf } from "./answer.js";
import { meant } from "../../shared/key-table.js";
import { enlarge, imageOf } from "../../shared/pictures.js";
import { t, tn } from "../../shared/language.js";

/** @param {Rubric} rubric @param {(what: string, value?: string) => void} act "opened", "folded", "mark" (token), "flag" (BROAD) */
export function createPanel(rubric, act) {
  const count = h("span", { class: "st-count" });
  const fold = h("button", { class: "st-fold", type: "button", "aria-expanded": "false", "aria-controls": "st-found", onclick: () => open() },
    icon("grid"), h("b", { text: t("Retrieved images") }), kbd("p"), h("small", { text: t("Do other images fit equally well?") }), count);
  const grid = h("div", { class: "st-found", id: "st-found", role: "listbox", "aria-multiselectable": "true", "aria-label": t("Retrieved images: mark those that fit equally well"), hidden: true });
  const words = h("span", {}), proposed = flagOf(rubric, BROAD);
  const proposal = h("div", { class: "st-proposal", role: "status", hidden: true }, words,
    h("button", { class: "cq-btn small primary", type: "button", onmousedown: stay, onclick: () => accept() }, `${t("Set it")} `, proposed ? kbd(proposed.key) : null),
    h("button", { class: "cq-btn small", type: "button", onmousedown: stay, text: t("Not now"), onclick: () => { dismissed = true; proposal.hidden = true; } }));
  const element = h("section", { class: "st-panel", "aria-label": t("Retrieved images") }, h("div", { class: "st-panelhead" }, fold, proposal), grid);
  let panel = /** @type {Picture[]} */ ([]), tiles = /** @type {HTMLElement[]} */ ([]), drawn = false, dismissed = false;

  const accept = () => {
    proposal.hidden = true;
    act("flag", BROAD);
  };
  const expanded = () => !grid.hidden;

  function open(wanted = !expanded(), { focus = true } = {}) {
    if (wanted && !panel.length) return;
    grid.hidden = !wanted;
    fold.setAttribute("aria-expanded", String(wanted));
    element.classList.toggle("open", wanted);
    if (!wanted) return void (focus && act("folded"));
    if (!drawn) draw();
    act("opened");
    if (window.matchMedia("(max-width: 720px)").matches) element.scrollIntoView({ block: "start" });
    if (focus) (tiles.find((tile) => tile.tabIndex === 0) ?? tiles[0])?.focus({ preventScroll: true });
  }

  // Only now are the pictures part of the page: folded, nobody looks at them.
  function draw() {
    drawn = true;
    tiles = panel.map((image, number) => {
      const name = t("Retrieved image {number} of {of}", { number: number + 1, of: panel.length });
      const tile = h("div", { class: "st-tile", role: "option", tabindex: number ? -1 : 0, "aria-label": image.missing ? t("{name}: unavailable", { name }) : name,
        "aria-selected": "false", "data-token": image.token, onclick: () => { point(tile); act("mark", image.token); } },
      image.missing ? h("span", { class: "st-missing", text: t("Image unavailable.") }) : imageOf(image.small),
      h("i", { class: "st-tick", "aria-hidden": "true" }, icon("check")),
      // For the mouse; an option can hold no button.
      image.missing ? null : h("span", { class: "st-loupe", "aria-hidden": "true", title: t("Enlarge (z)"),
        onclick: (event) => { event.stopPropagation(); large(number); } }, icon("loupe")));
      return tile;
    });
    grid.replaceChildren(...tiles);
  }
  const point = (/** @type {HTMLElement} */ tile) => {
    for (const other of tiles) other.tabIndex = other === tile ? 0 : -1;
    tile.focus({ preventScroll: true });
    tile.scrollIntoView({ block: "nearest" });
  };
  const large = (/** @type {number} */ number) => {
    const there = panel.flatMap((image, place) => (image.missing ? [] : [{ image, name: t("Retrieved image {number}", { number: place + 1 }), large: image.large }]));
    return enlarge(there, there.findIndex(({ image }) => image === panel[number])).then(() => point(tiles[number]));
  };

  grid.addEventListener("keydown", (event) => {
    const now = tiles.findIndex((tile) => tile === document.activeElement);
    if (now < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const columns = Math.max(1, getComputedStyle(grid).gridTemplateColumns.split(" ").length);
    /** @type {Record<string, number | undefined>} */
    const ways = { ArrowLeft: now - 1, ArrowRight: now + 1, ArrowUp: now - columns, ArrowDown: now + columns, Home: 0, End: tiles.length - 1 };
    const to = ways[event.key];
    if (to !== undefined) point(tiles[Math.min(tiles.length - 1, Math.max(0, to))]);
    else if (event.key === " ") act("mark", panel[now].token);
    else if (meant(event.key) === "z" && !panel[now].missing) large(now);
    else if (event.key === "Enter" && !proposal.hidden) accept();
    else if (event.key === "Escape") open(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  return {
    element,
    toggle: () => open(),
    show(/** @type {Picture[]} */ images) {
      [panel, tiles, drawn, dismissed] = [images, [], false, false];
      open(false, { focus: false });
      grid.replaceChildren();
      proposal.hidden = true;
      element.hidden = !panel.length;
    },
    draw(/** @type {Validity} */ answer) {
      const marked = answer.alternatives.length;
      count.textContent = marked ? t("{done} of {total}", { done: marked, total: rubric.broad_at }) : expanded() ? "" : String(panel.length);
      count.setAttribute("aria-label", marked ? t("{number} marked as equally good", { number: marked }) : tn(panel.length, "One image", "{number} images"));
      count.classList.toggle("some", marked > 0);
      element.style.setProperty("--share", `${Math.min(1, marked / rubric.broad_at)}`);
      for (const tile of tiles) tile.setAttribute("aria-selected", String(answer.alternatives.includes(tile.dataset.token ?? "")));
      const propose = marked >= rubric.broad_at && !answer.flags.includes(BROAD) && !dismissed && proposed;
      if (propose && proposal.hidden) say(t("{marked} equally good images. Press {key} to set {name}.", { marked, key: propose.key, name: propose.name }));
      words.textContent = t("{marked} equally good: “{name}”?", { marked, name: proposed?.name ?? "" });
      if (marked < rubric.broad_at) dismissed = false;
      proposal.hidden = !propose;
    },
  };
}
