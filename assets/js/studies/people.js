// Who judges in a study, and how far each one is.
import { at, h } from "../shared/common.js";
import { ago, bar, chip, count, lasting, percent, plural } from "./words.js";
/** @import { Screen } from "./main.js" */

/** @typedef {(person: SeatProgress) => void} Release */

export function peopleTable(/** @type {Screen} */ screen, /** @type {OneStudy} */ { study, people }, /** @type {Release} */ release) {
  const taken = people.filter((person) => person.name !== null);
  const free = people.length - taken.length;
  const title = h("div", { class: "cq-sttitle" }, h("h2", { text: "People" }),
    free && study.accepting ? h("p", { class: "cq-quiet" }, `${plural(free, "seat is", "seats are")} free. `,
      screen.may("people")
        ? ["Make an ", h("a", { href: at("people"), text: "invitation link" }), "; the next person to open the study gets one."]
        : "The next person to open the study gets one.") : null);
  if (!taken.length) {
    return [title, h("p", { class: "cq-quiet", text: "Nobody has started yet." })];
  }
  const head = h("thead", {}, h("tr", {}, h("th", { scope: "col", text: "Name" }), h("th", { scope: "col", text: "Answered" }),
    study.words.adjudicated ? h("th", { scope: "col", class: "num", text: "Unsure" }) : null, h("th", { scope: "col", class: "num", text: "Median time" }),
    h("th", { scope: "col", class: "num", text: "Last seen" }), study.words.survey ? h("th", { scope: "col", text: "Finished, code" }) : null, screen.may("manage") ? h("th", {}, h("span", { class: "sr", text: "Open work" })) : null));
  return [title, h("div", { class: "cq-stscroll" }, h("table", { class: "cq-sttable cq-stpeople" }, head,
    h("tbody", {}, taken.map((person) => line(screen, study, person, release)))))];
}

/** @type {(screen: Screen, study: Study, person: SeatProgress, release: Release) => HTMLElement} */
function line(screen, study, person, release) {
  const { name, done, unsure, total, open } = person;
  const left = person.median_seconds && open ? ` · ${lasting(person.median_seconds * open)} left` : "";
  return h("tr", {}, h("th", { scope: "row" }, h("b", { text: name, dir: "auto" }), person.away ? chip("away", "warn") : null),
    h("td", {}, bar(done, unsure, total, `${percent(done, total)} % answered`),
      h("small", { text: `${count(done)} of ${count(total)}${left}` })),
    study.words.adjudicated ? h("td", { class: "num", text: count(unsure) }) : null, h("td", { class: "num", text: lasting(person.median_seconds) }),
    h("td", { class: "num", text: ago(person.seen_at) }),
    study.words.survey ? h("td", {}, person.finished_at ? h("code", { text: person.code ?? "yes, no code" }) : null) : null,
    screen.may("manage") ? h("td", { class: "num" }, open && study.accepting ? h("button", { class: "cq-btn small", type: "button",
      text: "Reassign open work", "aria-label": `Reassign open work of ${name}`, onclick: () => release(person) }) : null) : null);
}
