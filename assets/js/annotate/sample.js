// A study to try the screens with, from the sample gallery.
import { api, h, messageOf } from "../shared/common.js";

/** ``judged``: with simulated answers, to look at its report. @param {{ judged?: boolean }} of */
export function sampleStudy({ judged = false } = {}) {
  const said = h("span", { class: "cq-quiet", role: "status" });
  const button = h("button", { class: `cq-btn${judged ? "" : " primary"}`, type: "button", text: judged ? "Create a sample report" : "Create a sample study", onclick: make });
  async function make() {
    button.disabled = true;
    said.textContent = "Auditing sixty queries and copying their images: about ten seconds…";
    try {
      const { name } = await api("POST", "studies/sample", { judged });
      window.location.href = `${judged ? "analysis" : "annotate"}?study=${encodeURIComponent(name)}`;
    } catch (error) {
      said.textContent = messageOf(error);
      button.disabled = false;
    }
  }
  return h("p", { class: "cq-row" }, button, said, h("span", { class: "cq-quiet", text: judged ? "The same study with simulated answers of two judges." : "20 queries of the sample gallery, for two people." }));
}
