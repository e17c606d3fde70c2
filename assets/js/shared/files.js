// Files that the server makes, and files that the page makes itself.
import "./menus.js";
import { h, toast } from "./elements.js";
import { until } from "./rest.js";

// Hands the file to the browser; answers a sentence where there is none.
export const fetchFile = (/** @type {string} */ address) => until(fetched(address));
async function fetched(/** @type {string} */ address) {
  try {
    const answer = await fetch(address, { headers: { Accept: "application/json" } });
    if (!answer.ok) return (await answer.json()).problem;
    const [, encoded] = /filename\*=UTF-8''([^;]+)/.exec(answer.headers.get("content-disposition") || "") || [];
    giveBlob(await answer.blob(), decodeURIComponent(encoded || "study"));
    return "";
  } catch {
    return "The server does not answer. Check that it is running and try again.";
  }
}

// ``content``: an address of this page's own, data: or blob:.
const giveFile = (/** @type {string} */ content, /** @type {string} */ name) => h("a", { href: content, download: name }).click();

/** Hands a text of the page to the browser as a file. @param {string} text @param {string} name */
export const giveText = (text, name) => giveBlob(new Blob([text], { type: "text/plain;charset=utf-8" }), name);

function giveBlob(/** @type {Blob} */ blob, /** @type {string} */ name) {
  const content = URL.createObjectURL(blob);
  giveFile(content, name);
  setTimeout(() => URL.revokeObjectURL(content), 60000);
}

// A menu of links, so that they can be copied; a click fetches, for what cannot be made is said in a sentence.
/** @param {string} label @param {{ address(): string, what: string, kind?: string }[]} entries @param {(sentence: string) => void} problem hears what went wrong */
export function fileMenu(label, entries, problem, { busy = "" } = {}) {
  const links = entries.map(({ address, what, kind }) => {
    const link = h("a", { href: address(), onclick: async (event) => {
      event.preventDefault();
      menu.open = false;
      summary.focus({ preventScroll: true });
      if (busy) problem(busy);
      const said = await fetchFile(address());
      if (said) problem(said);
    } }, what, kind ? h("small", { text: kind }) : null);
    return { link, address };
  });
  const summary = h("summary", { class: "cq-btn small", text: label });
  const menu = h("details", { class: "cq-menu", ontoggle: () => { for (const { link, address } of links) link.href = address(); } },
    summary, h("div", {}, links.map(({ link }) => link)));
  return menu;
}

// Copying a text.
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
