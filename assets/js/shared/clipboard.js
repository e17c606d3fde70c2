// Copying a text.
import { h, toast } from "./elements.js";

// ``shown``: the element with the text, to be marked in browsers that let no page copy.
/** @type {(text: string, how?: { message?: string, shown?: HTMLElement }) => Promise<void>} */
export async function copy(text, { message = "Copied", shown } = {}) {
  try {
    await navigator.clipboard.writeText(text);
    toast(message);
  } catch { // plain http on another host has no clipboard
    if (!shown) return toast(copyByHand(text) ? message : "This browser does not allow copying.");
    if (shown instanceof HTMLInputElement) shown.select();
    else window.getSelection()?.selectAllChildren(shown);
    toast("This browser does not allow copying here. The text is selected: press Ctrl+C.");
  }
}

function copyByHand(/** @type {string} */ text) {
  const area = h("textarea", { class: "sr", value: text });
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
