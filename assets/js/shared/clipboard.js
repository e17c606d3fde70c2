// Copying a text.
import { h, toast } from "./elements.js";

// ``shown``: the element with the text, to be marked in browsers that let no page copy.
export async function copy(text, { said = "Copied", shown = null } = {}) {
  try {
    await navigator.clipboard.writeText(text);
    toast(said);
  } catch { // plain http on another host has no clipboard
    if (!shown) return toast(copyByHand(text) ? said : "This browser lets no page copy.");
    if (shown.select) shown.select();
    else window.getSelection().selectAllChildren(shown);
    toast("This browser lets no page copy here. It is marked: press Ctrl+C.");
  }
}

function copyByHand(text) {
  const area = h("textarea", { class: "sr", value: text });
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
