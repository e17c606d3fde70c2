// Copying a text.
import { h, toast } from "./elements.js";

// ``mark`` selects the text where it stands, for browsers that let no page copy.
export async function copy(text, { said = "Copied", mark = null } = {}) {
  try {
    await navigator.clipboard.writeText(text);
    toast(said);
  } catch { // plain http on another host has no clipboard
    if (!mark) return toast(copyByHand(text) ? said : "This browser lets no page copy.");
    mark();
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
