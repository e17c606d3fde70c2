// The tables of keys: what the list says and what a key does come from the same rows.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openPage } from "./page.js";

const { listed, nameOf, rowOf } = await import("../../assets/js/shared/key-table.js");
const validity = await import("../../assets/js/annotate/validity/keys.js"), survey = await import("../../assets/js/annotate/survey/keys.js");
const sessions = await import("../../assets/js/annotate/sessions/keys.js"), targets = await import("../../assets/js/annotate/targets/keys.js");
const adjudicate = await import("../../assets/js/adjudicate/keys.js"), benchmarks = await import("../../assets/js/benchmarks/keys.js");

const press = (key, more = {}) => ({ key, ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...more });
const rubric = { valid: { key: "5" }, flags: [{ key: "1", code: "TARGET", reasons: [] }, { key: "2", code: "TEXT", reasons: [{ key: "a" }, { key: "b" }] }] };
const page = { set_names: ["A", "B"], allow_tie: true, questions: { tie: "Equally good", marks: [{ to: "image", text: "Irrelevant to the image" }] } };
const marks = { question: "", choices: [{ mark: "yes", name: "fits", key: "j" }, { mark: "no", name: "does not fit", key: "n" }] };
const calls = [];
const does = new Proxy({}, { has: () => true, get: (_, name) => (...given) => { calls.push([name, ...given]); return name === "asking" || name === "zoomed" ? false : undefined; } });
const KINDS = { validity: validity.keyTable(rubric, does), preference: survey.keyTable(page, does), sessions: sessions.keyTable({ points: [1, 2, 3, 4, 5] }, does),
  targets: targets.keyTable(marks, does) };
function called(rows, event) {
  const row = rowOf(rows, event);
  calls.length = 0;
  row?.does?.(nameOf(event));
  return calls.find(([name]) => name !== "asking" && name !== "zoomed");
}

for (const [kind, rows] of Object.entries(KINDS)) {
  test(`${kind}: the same key does the same thing in every kind`, () => {
    const common = { Enter: ["save"], r: ["note"], z: ["zoom"], d: ["sheet"], o: ["map"], Backspace: ["step", -1] };
    for (const [key, [name, ...given]] of Object.entries(common)) assert.deepEqual(called(rows, press(key))?.slice(0, 1 + given.length), [name, ...given], key);
    assert.deepEqual(called(rows, press("Backspace", { shiftKey: true })), ["step", 1]);
    assert.equal(called(rows, press("Z", { ctrlKey: true, shiftKey: true })), undefined);
    assert.equal(called(rows, press("s", { ctrlKey: true })), undefined, "the browser's");
  });
  test(`${kind}: no key stands in two rows, and every row that does something is listed or has its key beside another`, () => {
    const keys = rows.filter(({ does: action, when }) => action && !when).flatMap((row) => row.keys);
    assert.equal(new Set(keys).size, keys.length);
    const list = listed(rows).map(([shown]) => shown);
    for (const key of ["Enter", "r", "z", "d", "o", "?"]) assert.ok(list.includes(key), key);
  });
}
test("arrows lead to the next item where the kind has no other use for them", () => {
  assert.deepEqual(called(KINDS.validity, press("ArrowRight")), ["step", 1]);
  assert.deepEqual(called(KINDS.validity, press("ArrowRight", { shiftKey: true })), ["pan", 1, 0]);
  assert.deepEqual(called(KINDS.sessions, press("ArrowLeft")), ["step", -1]);
  assert.deepEqual(called(KINDS.targets, press("ArrowRight", { shiftKey: true })), ["step", 1]);
  assert.deepEqual(called(KINDS.targets, press("ArrowRight")), ["move", "ArrowRight"]);
  assert.deepEqual(called(KINDS.preference, press("ArrowRight")), ["prefer", "B"]);
  assert.deepEqual(called(KINDS.targets, press("2")), ["mark", "no"]);
  assert.deepEqual(called(KINDS.targets, press("j")), ["mark", "yes"], "a study's own key");
  assert.equal(called(KINDS.targets, press("3")), undefined, "this study has two marks");
  assert.deepEqual(called(KINDS.preference, press("=", { shiftKey: true })), ["prefer", "tie"]);
  assert.equal(called(KINDS.validity, press("n"))?.[0], "note");
});
test("a confirmation takes y, n and Escape, and only while it is asked for", () => {
  const asked = [], rows = survey.keyTable(page, { asking: () => asked.length === 0, meant: (yes) => asked.push(yes) });
  rowOf(rows, press("n"))?.does("n");
  assert.deepEqual(asked, [false]);
  assert.equal(rowOf(rows, press("n")), undefined);
});
test("adjudication: a letter takes a judge's answer, a command with Shift only", () => {
  const taken = [], view = { letter: (key) => { taken.push(key); return key === "A" || key === "N"; }, note: () => taken.push("note"), pictures: { zoomed: false } };
  const rows = adjudicate.keyTable(() => {}, view);
  for (const key of ["A", "N", "n"]) rowOf(rows, press(key)).does(key);
  assert.deepEqual(taken, ["A", "N", "n", "note"]);
  assert.equal(rowOf(rows, press("Escape")), undefined);
});
test("benchmarks: an arrow moves on from a session, j from anywhere", () => {
  const moved = [], rows = benchmarks.keyTable({ go: (by) => moved.push(by), onStrip: () => false });
  rowOf(rows, press("j")).does("j");
  assert.equal(rowOf(rows, press("ArrowDown")), undefined);
  assert.deepEqual(moved, [1]);
});

test("Enter saves also from the note, with Ctrl too; a held key, or one of a button, does not", async () => {
  const { listen } = await import("../../assets/js/annotate/keys.js");
  const { document } = openPage(), before = globalThis.HTMLElement;
  globalThis.HTMLElement = class { constructor(inField) { this.inField = inField; } matches() { return this.inField; } closest() { return this.inField ? this : null; } };
  document.querySelector = () => null; // no dialog
  let saved = 0;
  listen(KINDS.validity, { here: () => true, leaving: () => false, save: () => { saved += 1; }, leaveNote() {}, theirs: (target) => target.isButton });
  const hears = (target, more = {}) => {
    saved = 0;
    for (const heard of document.heard.get("keydown")) heard({ ...press("Enter", more), target, preventDefault() {} });
    return saved;
  };
  const note = new globalThis.HTMLElement(true), item = new globalThis.HTMLElement(false), button = Object.assign(new globalThis.HTMLElement(false), { isButton: true });
  for (const more of [{}, { ctrlKey: true }]) assert.deepEqual([hears(note, more), hears(item, more)], [1, 1], JSON.stringify(more));
  assert.deepEqual([hears(note, { repeat: true }), hears(item, { repeat: true }), hears(note, { shiftKey: true })], [0, 0, 0]);
  assert.deepEqual([hears(button), hears(button, { ctrlKey: true })], [0, 1]);
  globalThis.HTMLElement = before;
});

test("a key that is changed changes places with the one that is pressed now", async () => {
  openPage();
  const { bind, bindUsual, canBind, meant, pressedFor } = await import("../../assets/js/shared/key-table.js");
  const shown = () => listed(KINDS.validity).find(([, , own]) => own.includes("1"))[0];
  const before = shown();
  assert.deepEqual(called(KINDS.validity, press("1")), ["flag", "TARGET"]);
  bind("1", "q"); // of no use until now
  assert.deepEqual(called(KINDS.validity, press("q")), ["flag", "TARGET"]);
  assert.equal(called(KINDS.validity, press("1")), undefined);
  assert.ok(shown().split("  ").includes("q"), shown());
  bind("1", "5"); // the two change places: "q" is free again
  assert.deepEqual([called(KINDS.validity, press("5")), called(KINDS.validity, press("q"))?.[0]], [["flag", "TARGET"], undefined].map((one, place) => (place ? "valid" : one)));
  bind("1", "1");
  assert.deepEqual([meant("1"), pressedFor("1")], ["1", "1"]);
  bind("r", "z");
  assert.deepEqual([meant("z"), meant("r")], ["r", "z"]);
  assert.deepEqual(called(KINDS.validity, press("z", { ctrlKey: true }))?.[0], "undo", "with Ctrl a key stays what it is");
  assert.deepEqual([bindUsual(), bindUsual()], [true, false]); // the second time nothing is left to change
  assert.deepEqual([shown(), meant("z"), meant("q")], [before, "z", "q"]);
  assert.deepEqual(["a", "7", "-", "é", " ", "?", "Enter", "ArrowLeft"].map(canBind), [true, true, true, true, false, false, false, false]);
});
