// Pictures of the gallery to choose from: as a reference, or as a target to be found.
import { closer, createDelay, dialog, h, until } from "../shared/common.js";
import { act } from "./actions.js";
import { $, $$, further, shown } from "./page.js";
import { addressIn, browse, takeAddress } from "./reference.js";
import { nextReference } from "./results/next.js";
import { selected } from "./results/selection.js";

// --- the gallery picker --------------------------------------------------------------------

const PURPOSES = /** @type {Record<string, string>} */ ({ reference: "Pick a reference", target: "Pick a target", add: "Add a picture" });
const heading = h("h2", {});
const field = h("input", { type: "text", role: "searchbox", placeholder: "Search the gallery by words, or paste a picture's address", "aria-label": "Search the gallery by words",
  maxlength: 300, autocomplete: "off" });
const answer = h("p", { class: "cq-quiet", role: "status" });
const grid = h("div", { class: "cq-pickgrid", role: "group", "aria-label": "Gallery images" });
const upload = h("button", { class: "cq-btn small", type: "button", text: "Upload a picture", onclick: () => { picker.close(); browse({ add: true }); } });
const picker = dialog({ class: "cq-picker", "aria-label": "Gallery" },
  h("header", {}, heading, upload, closer()), h("div", { class: "cq-find" }, field), answer, grid);
const typed = createDelay(220);
let purpose = "reference", asked = 0;

export function pick(/** @type {string} */ why) {
  purpose = PURPOSES[why] ? why : "reference";
  heading.textContent = PURPOSES[purpose];
  upload.hidden = purpose !== "add";
  field.value = "";
  for (const tile of $$("button", grid)) if (taken().includes(tile.dataset.image ?? "")) tile.remove(); // of the last time
  picker.showModal();
  field.focus();
  find();
}
function take(/** @type {string} */ image) {
  if (purpose === "add") act("add_reference", { image, reference: nextReference() });
  else act(purpose, { image });
}
// References already, which the server refuses to add a second time.
function taken() {
  if (purpose !== "add") return [];
  const { reference } = shown();
  const next = nextReference() || reference;
  return next === reference ? [next, ...further()] : [next];
}
// In place of the ones before. The focus stays with its picture, else at its place.
function show(/** @type {HTMLElement[]} */ tiles) {
  const before = $$("button", grid), place = before.findIndex((tile) => tile === document.activeElement);
  const { image } = before[place]?.dataset ?? {};
  grid.replaceChildren(...tiles);
  if (place >= 0) (tiles.find((tile) => tile.dataset.image === image) ?? tiles[Math.min(place, tiles.length - 1)] ?? field).focus();
}
const find = () => until(found(++asked));
async function found(/** @type {number} */ mine) {
  const query = new URLSearchParams({ gallery: shown().gallery ?? "", text: field.value });
  picker.classList.add("busy");
  try {
    const response = await fetch(`media/find?${query}`);
    const { error, images: all } = await response.json();
    if (mine !== asked) return;
    const there = taken();
    const images = /** @type {{ id: string, alt: string, thumb: string }[]} */ (all || []).filter(({ id }) => !there.includes(id));
    answer.textContent = error || (field.value.trim() ? `Closest ${images.length}` : "Random images. Type to search.");
    show(images.map((item) => h("button", {
      class: "cq-tile", "aria-label": item.alt, "data-image": item.id, onclick: () => { picker.close(); take(item.id); },
    }, h("span", { class: "pic" }, h("img", { src: item.thumb, alt: "", loading: "lazy", width: 160, height: 160 })))));
  } catch {
    if (mine === asked) answer.textContent = "The server does not answer. Check that it is running and try again.";
  } finally {
    if (mine === asked) picker.classList.remove("busy");
  }
}
field.addEventListener("input", () => {
  asked += 1; // what is on its way answers something else
  typed.start(find);
});
field.addEventListener("paste", (event) => {
  const address = purpose === "target" ? "" : addressIn(event); // a target is in the gallery
  if (!address) return;
  event.preventDefault();
  picker.close();
  takeAddress(address, { add: purpose === "add" });
});
field.addEventListener("keydown", (event) => {
  if (event.key === "Enter") { event.preventDefault(); typed.stop(); find(); }
  if (event.key === "ArrowDown") { event.preventDefault(); $("button", grid)?.focus(); }
});
grid.addEventListener("keydown", (event) => {
  const all = $$("button", grid);
  const at = all.findIndex((button) => button === document.activeElement);
  const columns = Math.max(1, getComputedStyle(grid).gridTemplateColumns.split(" ").length);
  const steps = /** @type {Record<string, number>} */ ({ ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns });
  if (at < 0 || !(event.key in steps)) return;
  event.preventDefault();
  if (at + steps[event.key] < 0) return field.focus();
  all[Math.min(all.length - 1, at + steps[event.key])]?.focus();
});

// --- find a target: how to begin ---------------------------------------------------------

const aim = h("button", { class: "cq-btn", id: "cq-aim", text: "The selected result", onclick: () => { begin.close(); act("target", { image: selected()?.dataset.image }); } });
const deal = h("button", { class: "cq-btn primary", text: "Give me a target", onclick: () => { begin.close(); act("deal"); } });
const begin = dialog({ class: "cq-small", "aria-label": "Find a target" },
  h("header", {}, h("h2", { text: "Find a target" }), closer()),
  h("p", { text: "You get a target and a starting image that differs from it. Refine your way to the target. Its rank is recorded after every turn and shown at the end." }),
  h("div", { class: "cq-row" },
    deal,
    h("button", { class: "cq-btn", text: "Choose from the gallery", onclick: () => { begin.close(); pick("target"); } }),
    aim));
export function play() {
  aim.hidden = !selected();
  begin.showModal();
  deal.focus();
}
