// What is changed of a study as a whole: its name, guidelines, whether it is put away, a copy of it, its end.
import { api, askText, closer, confirm, dialog, field, h, messageOf, once, tellIn } from "../shared/common.js";
import { guideEditor } from "./new/guidelines.js";
/** @import { Screen } from "./main.js" */

/** @param {Screen} screen @param {() => OneStudy} known @param {() => Promise<void>} changed */
export function settingsPart(screen, known, changed) {
  const title = () => known().study.name;
  const button = (/** @type {string} */ text, /** @type {() => unknown} */ act) => h("button", { class: "cq-btn small", type: "button", text, onclick: () => { act(); } });
  const rename = async () => {
    const name = await askText("Rename the study", title());
    if (!name || name === title()) return;
    const done = await screen.does("POST", "studies/rename", { study: title(), name }, "Renamed. Links to its pages have the new name.");
    if (done) screen.go(done.study.name, "settings");
  };
  const duplicate = async () => {
    const name = await askText("Name of the copy", `${title()} 2`);
    if (!name) return;
    const done = await screen.does("POST", "studies/duplicate", { study: title(), name }, "Copied, without people and answers. It is closed.");
    if (done) screen.go(done.study.name, "settings");
  };
  const put = async () => {
    const away = !known().study.archived;
    if (away && !(await confirm("Archive the study?", "It is closed, and hidden from all lists until you restore it. All its data are kept.", "Archive"))) return;
    if (await screen.does("POST", "studies/archive", { study: title(), archived: away }, away ? "Archived" : "Back in the lists, closed")) await changed();
  };
  async function remove() {
    const name = h("input", { type: "text", autocomplete: "off" }), problem = h("p", { class: "cq-inline", role: "alert", hidden: true });
    const { counts } = known().study;
    const asks = dialog({ class: "cq-small", "aria-label": "Remove the study" }, h("form", { onsubmit: async (event) => {
      event.preventDefault();
      try {
        await api("POST", "studies/remove", { study: title(), name: name.value }, { patience: 600000 });
        asks.close("removed");
      } catch (error) {
        tellIn(problem, messageOf(error));
      }
    } }, h("header", {}, h("h2", { text: "Remove the study" }), closer()),
    h("p", { text: `This deletes ${title()} with its ${counts.done} answers and its pictures. A backup of the database and the pictures is kept in the folder backups.` }),
    field("Type its name to remove it", name), problem, h("div", { class: "cq-row" }, h("button", { class: "cq-btn primary", type: "submit", text: "Remove" }))));
    if ((await once(asks)) === "removed") screen.go("");
  }
  const archive = button("Archive", put), said = h("p", { class: "cq-inline", role: "alert", hidden: true });
  const saves = h("button", { class: "cq-btn", type: "button", text: "Save the guidelines", disabled: true, onclick: async () => {
    tellIn(said, "");
    try {
      await api("POST", "studies/guide", { study: title(), text, keep: true });
      saves.disabled = true;
      await changed();
    } catch (error) {
      tellIn(said, messageOf(error));
    }
  } });
  const REASONS = /** @type {[Needs["needs"][number], string][]} */ ([["split", "judges differ in any way"], ["tie", "as many judges on one side as on the other"], ["unsure", "a judge was unsure"]]);
  const WHO = /** @type {[Needs["discussion"], string][]} */ ([["none", "nobody"], ["adjudicators", "adjudicators"], ["judges", "adjudicators, and the judges of the item"]]);
  const wrong = h("p", { class: "cq-inline", role: "alert", hidden: true });
  const needs = () => known().needs;
  const boxes = REASONS.map(([value, words]) => ({ value, box: h("input", { type: "checkbox", checked: needs().needs.includes(value) }), words }));
  const below = h("input", { type: "number", class: "cq-strule", min: 0, max: 100, step: 1, value: needs().below === null ? "" : Math.round(100 * Number(needs().below)), "aria-label": "Mean agreement below, in %" });
  const talk = h("select", { "aria-label": "Who discusses an item" }, WHO.map(([value, words]) => h("option", { value, text: words, selected: value === needs().discussion })));
  const keeps = button("Save what needs a decision", async () => {
    tellIn(wrong, "");
    try {
      await api("POST", "adjudicate/needs", { study: title(), needs: { needs: boxes.filter(({ box }) => box.checked).map(({ value }) => value),
        below: below.value === "" ? null : Number(below.value) / 100, discussion: talk.value } });
      await changed();
    } catch (error) {
      tellIn(wrong, messageOf(error));
    }
  });
  const deciding = h("section", {}, h("h2", { text: "Adjudication" }),
    h("p", { class: "cq-quiet", text: "Which items an adjudicator decides. Adjudicators answer an item themselves before they see what judges answered." }),
    h("ul", { class: "cq-strules" }, boxes.map(({ box, words }) => h("li", {}, h("label", {}, box, ` ${words}`))),
      h("li", {}, "the mean agreement of two judges is below", below, "%"), h("li", {}, "An item is discussed by", talk)), wrong, h("p", { class: "cq-row" }, keeps));
  const language = h("select", { "aria-label": "Language of the screens of judges and participants", onchange: async () => {
    if (!(await screen.does("POST", "studies/language", { study: title(), language: language.value }, "Saved. Pages that are open change when they are loaded again."))) language.value = known().language;
    else await changed();
  } }, Object.entries(known().languages).map(([value, name]) => h("option", { value, text: name, lang: value, selected: value === known().language })));
  let text = known().guidelines;
  const guide = guideEditor({ value: text, changed: (to) => { text = to; saves.disabled = false; }, read: (given) => api("POST", "studies/guide", { study: title(), text: given, keep: false }) });
  guide.draw();
  return {
    element: h("div", {}, h("section", {}, h("h2", { text: "Study" }), h("div", { class: "cq-row" }, button("Rename", rename), button("Duplicate", duplicate), archive, button("Remove", remove)),
      h("ul", { class: "cq-strules" }, h("li", {}, "The screens of judges and participants are in", language))), deciding,
      h("section", {}, h("h2", { text: "Guidelines" }), h("div", { class: "cq-stform" }, guide.element), said, h("p", { class: "cq-row" }, saves))),
    again() { archive.textContent = known().study.archived ? "Bring back" : "Archive"; },
  };
}
