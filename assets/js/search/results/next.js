// What the next words start from: the selected result, unless it is marked "less like this". The composer shows it.
import { h, on } from "../../shared/common.js";
import { $, $$, shown } from "../page.js";
import { onMarks, sign } from "./marks.js";
import { deselect, onSelect, selected } from "./selection.js";

const start = () => {
  const tile = selected();
  return tile && sign(tile.dataset.image) !== "less" ? tile : undefined;
};
// Empty where it is the reference that the server knows.
export const nextReference = () => start()?.dataset.image ?? "";

/** @typedef {{ name: string, full: string, thumb: string, alt: string }} Shown */
function draw() {
  const frame = $(".cq-frame[data-name]");
  if (!frame) return;
  const tile = start();
  const other = Boolean(tile) && tile?.dataset.image !== shown().reference;
  const picture = /** @type {Shown} */ (tile && other ? {
    name: tile.dataset.image, full: tile.dataset.full, thumb: tile.dataset.thumb, alt: `Reference: ${$(".sr", tile)?.textContent}`,
  } : { ...frame.dataset });
  const [name, large, image, mini] = [$(".cq-refname"), $(".cq-framebtn"), $(".cq-framebtn img"), $("img.cq-mini")];
  if (name) name.textContent = name.title = picture.name;
  if (large) large.dataset.large = picture.full;
  if (image) exchange(image, picture);
  image?.setAttribute("alt", picture.alt);
  if (mini) mini.setAttribute("src", picture.thumb);
  const several = $$(".cq-further .cq-one"); // pictures that were added to the reference that the server knows
  for (const one of several) one.hidden = other;
  const line = $("[data-from]");
  const against = selected();
  line?.replaceChildren(...(against && !tile ? [`Rank ${against.dataset.rank} is selected, but marked less like this. The next search starts from the earlier reference.`] : tile && other ? [`Rank ${tile.dataset.rank} of these results${several.length ? ", alone" : ""}. `,
    h("button", { class: "cq-link", type: "button", "data-from-before": true,
      text: several.length ? `Use the earlier ${several.length + 1} pictures` : "Use the earlier one" })] : []));
}

/** @type {(image: HTMLElement, picture: Shown) => void} The thumbnail, which is there already, until the large picture is. */
function exchange(image, picture) {
  if ((image.dataset.coming ?? image.getAttribute("src")) === picture.full) return;
  image.dataset.coming = picture.full;
  image.setAttribute("src", picture.thumb);
  const large = new Image();
  const put = () => {
    if (image.dataset.coming === picture.full) image.setAttribute("src", picture.full);
  };
  large.src = picture.full;
  large.decode().then(put, put);
}
onSelect(draw);
onMarks(draw);
on("click", (event) => {
  if (!event.target.closest("[data-from-before]")) return;
  deselect();
  $("textarea#cq-text")?.focus({ preventScroll: true });
});
