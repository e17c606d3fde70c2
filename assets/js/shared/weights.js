// Weights of an encoder for photos: how large, from where, by whose click, and how far. Nothing is fetched before that.
import { api, closer, copy, dialog, h, messageOf, once, tellIn } from "./common.js";

const EVERY_MS = 500;
const MB = 1e6;

export async function weights() {
  const text = h("p", {}), problem = h("p", { class: "cq-inline", role: "alert", hidden: true });
  const bar = h("progress", { "aria-label": "Download", hidden: true }), far = h("p", { class: "cq-quiet", role: "status" });
  const row = h("div", { class: "cq-row" }), byHand = h("details", { class: "cq-byhand" });
  const shows = dialog({ class: "cq-small cq-weights", "aria-label": "An encoder for photos" },
    h("header", {}, h("h2", { text: "An encoder for photos" }), closer()), text, bar, far, problem, row, byHand);
  let timer = 0;
  const closed = once(shows).then(() => { clearTimeout(timer); timer = -1; });

  /** @param {"GET" | "POST"} method @param {"weights" | "weights/fetch" | "weights/stop"} path */
  async function call(method, path, news = false) {
    clearTimeout(timer);
    try {
      const found = await api(method, path, {}, { news });
      if (timer === -1) return;
      draw(found);
      if (found.running) timer = window.setTimeout(() => call("GET", "weights", true), EVERY_MS);
    } catch (error) {
      tellIn(problem, messageOf(error));
    }
  }

  /** @param {WeightsState} found */
  function draw(found) {
    const size = `${found.megabytes.toLocaleString("en")} MB`;
    text.textContent = found.ready ? `${found.spec} is on this machine. Index your photos with it:`
      : `The sample's encoder knows drawn garments only. ${found.spec} (CLIP) knows photos: about ${size}, from ${found.host}. `
        + "Nothing is downloaded until you press the button, and only the request for the file is sent.";
    bar.hidden = !found.running;
    if (found.total) [bar.max, bar.value] = [found.total, found.done];
    else bar.removeAttribute("value");
    const loaded = found.total > 0 && found.done >= found.total;
    far.textContent = !found.running ? "" : found.stopping ? "Stopping…" : loaded ? "Checking the file…"
      : `${Math.floor(found.done / MB)} of ${found.total ? Math.ceil(found.total / MB) : `about ${found.megabytes}`} MB`;
    tellIn(problem, found.running ? "" : found.problem);
    if (found.ready) return void ready(found);
    const press = (/** @type {string} */ label, /** @type {"weights/fetch" | "weights/stop"} */ path, main = true) =>
      h("button", { class: `cq-btn${main ? " primary" : ""}`, type: "button", text: label, onclick: () => call("POST", path) });
    if (!found.may) row.replaceChildren(h("p", { class: "cq-quiet", text: "Only an admin may download it. Ask one." }));
    else if (!found.running) row.replaceChildren(press(found.there ? "Use the existing file" : `Download ${size}`, "weights/fetch"));
    else if (!row.querySelector("[data-cancel]") || found.stopping) {
      const cancel = press("Cancel", "weights/stop", false);
      cancel.dataset.cancel = "";
      cancel.disabled = found.stopping;
      row.replaceChildren(cancel);
    }
    byHand.hidden = !found.may;
    if (found.may && !byHand.childElementCount) {
      byHand.append(h("summary", { text: "No internet on this machine?" }), h("ol", {},
        h("li", {}, "On a machine with internet, download ", h("code", { text: found.url }), "."),
        h("li", {}, "Copy it to the machine that runs cirque, as ", h("code", { text: found.file }),
          " in cirque’s home folder."),
        h("li", {}, "Open this dialog again and press “Use the existing file”.")));
    }
  }

  /** @param {WeightsState} found */
  function ready(found) {
    const command = `cirque index FOLDER --name NAME --encoder ${found.encoder ?? found.spec}`;
    byHand.hidden = true;
    row.replaceChildren(h("p", { class: "cq-quiet", text: "Index your photos with it (HOME is cirque’s home folder):" }), h("code", { text: command }),
      h("button", { class: "cq-btn small", type: "button", text: "Copy", onclick: () => copy(command, { message: "Copied." }) }));
  }

  await call("GET", "weights");
  await closed;
}
