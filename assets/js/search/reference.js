// A reference picture by file, drop or paste, or by its address. It goes to media/upload or media/address and comes back
// as an id.
import { dialogOpen, h, on, say, tellIn, toast, typing, until } from "../shared/common.js";
import { act } from "./actions.js";
import { $, queryField } from "./page.js";
import { nextReference } from "./results/next.js";

const chooser = h("input", { type: "file", accept: "image/*,.heic,.heif,.avif", hidden: true, id: "cq-file",
  "aria-label": "Image to upload" });
document.body.append(chooser);
let adds = false;
export function browse({ add = false } = {}) {
  adds = add;
  chooser.click();
}
chooser.addEventListener("change", () => { if (chooser.files?.[0]) take(chooser.files[0], { add: adds }); chooser.value = ""; });

/** @typedef {{ add?: boolean }} How */
/** @type {(file: File, how?: How) => void} */
const take = (file, how) => until(send("media/upload", {
  body: file, headers: { "Content-Type": "application/octet-stream", "X-File-Name": encodeURIComponent(file.name || "") },
}, how));
/** @type {(address: string, how?: How) => void} */
export function takeAddress(address, how) {
  say("Fetching the picture at this address …");
  until(send("media/address", { body: JSON.stringify({ address }), headers: { "Content-Type": "application/json" } }, how));
}
/** @type {(path: string, sent: RequestInit, how?: How) => Promise<void>} */
async function send(path, sent, { add = false } = {}) {
  const frame = $(".cq-frame");
  frame?.classList.add("cq-shimmer");
  complain("");
  try {
    const response = await fetch(path, { method: "POST", ...sent });
    const answer = await response.json();
    if (!response.ok) complain(answer.error || "The image was not accepted.");
    else if (!(add ? act("add_reference", { image: answer.reference_id, reference: nextReference() }) : act("reference", { image: answer.reference_id }))) {
      complain("A search is still running. Try again when it is done.");
    }
  } catch {
    complain("The upload was interrupted. Check the connection and try again.");
  } finally {
    frame?.classList.remove("cq-shimmer");
  }
}
function complain(/** @type {string} */ text) {
  const line = $(".cq-inline");
  if (line) tellIn(line, text);
  if (line && text) toast(text);
}

export const isAddress = (/** @type {string} */ text) => /^https?:\/\/[^\s]+$/i.test(text);
// The one web address that is pasted, if it is nothing else.
export function addressIn(/** @type {ClipboardEvent} */ event) {
  const text = (event.clipboardData?.getData("text/plain") ?? "").trim();
  return isAddress(text) ? text : "";
}
on("paste", (event) => {
  const address = event.defaultPrevented || dialogOpen() || typing(event.target) && event.target !== queryField() ? "" : addressIn(event);
  if (address) {
    event.preventDefault();
    return takeAddress(address);
  }
  const files = [...(event.clipboardData?.files || [])];
  const file = files.find((item) => item.type.startsWith("image/"));
  if (!file && files.length) complain("This is not an image. Paste or drop a JPEG, PNG, WebP, GIF or HEIC file.");
  if (!file) return;
  event.preventDefault();
  take(file);
});

// Dropping beside the frame must not replace the page by the picture.
let over = 0;
const carriesFiles = (/** @type {DragEvent} */ event) => [...(event.dataTransfer?.types || [])].includes("Files");
on("dragenter", (event) => {
  if (carriesFiles(event) && ++over) document.body.classList.add("cq-dragging");
});
on("dragleave", (event) => {
  if (carriesFiles(event) && --over <= 0) { over = 0; document.body.classList.remove("cq-dragging"); }
});
on("dragover", (event) => { if (carriesFiles(event)) event.preventDefault(); });
on("drop", (event) => {
  over = 0;
  document.body.classList.remove("cq-dragging");
  if (!carriesFiles(event)) return;
  event.preventDefault();
  const file = event.dataTransfer?.files[0];
  if (file) take(file);
});
