// A study to try the screens with, from the sample gallery.
import { api, h, messageOf } from "../shared/common.js";

export function sampleStudy() {
  const said = h("span", { class: "cq-quiet", role: "status" });
  const button = h("button", { class: "cq-btn primary", type: "button", text: "Create a sample study", onclick: make });
  async function make() {
    button.disabled = true;
    said.textContent = "Auditing sixty queries and copying their images: about ten seconds…";
    try {
      const { name } = await api("POST", "studies/sample", {});
      window.location.href = `annotate?study=${encodeURIComponent(name)}`;
    } catch (error) {
      said.textContent = messageOf(error);
      button.disabled = false;
    }
  }
  return h("p", { class: "cq-row" }, button, said, h("span", { class: "cq-quiet", text: "20 queries of the sample gallery, for two people." }));
}
