// A reference picture by file, drop or paste. It goes to media/upload and comes back as an id.
import { h, on, tellIn, toast, until } from "../shared/common.js";
import { act } from "./actions.js";
import { $ } from "./page.js";
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

/** @type {typeof send} */
const take = (file, how) => until(send(file, how));
async function send(/** @type {File} */ file, { add = false } = {}) {
  const frame = $(".cq-frame");
  frame?.classList.add("cq-shimmer");
  complain("");
  try {
    const response = await fetch("media/upload", {
      method: "POST", body: file, headers: { "Content-Type": "application/octet-stream", "X-File-Name": encodeURIComponent(file.name || "") },
    });
    const answer = await response.json();
    if (!response.ok) complain(answer.error || "The image was not accepted.");
    else if (add) act("add_reference", { image: answer.reference_id, reference: nextReference() });
    else act("reference", { image: answer.reference_id });
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

on("paste", (event) => {
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
