// A person's work in this browser: the clock, drafts and answers until the server has them, and the way through the items.
import assert from "node:assert/strict";
import test, { mock } from "node:test";
import { openPage } from "./page.js";
import { createClock } from "../../assets/js/annotate/work/clock.js";
import { createDrafts } from "../../assets/js/annotate/work/drafts.js";
import { keptByItem } from "../../assets/js/annotate/work/kept.js";
import { createLate } from "../../assets/js/annotate/work/late.js";
import { createPlaces } from "../../assets/js/annotate/work/places.js";
import { createSending } from "../../assets/js/annotate/work/sending.js";
import { api, openedBy } from "../../assets/js/shared/calls.js";

const ONE = { study: "S", item: "one" }, OTHER = { study: "S", item: "other" };
const away = () => { throw new TypeError("no network"); };
const rest = async (rounds = 20) => { for (let round = 0; round < rounds; round += 1) await Promise.resolve(); };

test("the clock counts while the page is to be seen", () => {
  const { document } = openPage();
  let now = 1000;
  mock.method(performance, "now", () => now);
  const clock = createClock();
  clock.start(5);
  now += 2000;
  document.hidden = true;
  document.happens("visibilitychange");
  now += 60000;
  assert.equal(clock.seconds, 7);
  document.hidden = false;
  document.happens("visibilitychange");
  now += 1500;
  assert.equal(clock.seconds, 8.5);
  clock.start();
  assert.equal(clock.seconds, 0);
  mock.restoreAll();
});

test("one thing is kept for each item, and nothing where there is nothing", () => {
  const { store } = openPage();
  const kept = keptByItem("key");
  assert.equal(kept.at(ONE), null);
  kept.put({ ...ONE, answer: 1 });
  kept.put({ ...OTHER, answer: 2 });
  kept.put({ ...ONE, answer: 3 });
  assert.deepEqual(kept.all().map(({ answer }) => answer), [3, 2]);
  kept.drop(ONE);
  kept.drop(OTHER);
  assert.equal(store.size, 0);
});

test("a draft stays in this browser until the server has it", async () => {
  let answers = away;
  const { calls } = openPage((call) => answers(call));
  const drafts = createDrafts("Ada"), kept = keptByItem("cirque.drafts.Ada"), draft = { ...ONE, answer: "a", seconds: 3, revision: 2 };
  drafts.keep(draft);
  await drafts.send();
  assert.deepEqual(kept.at(ONE), draft);
  assert.deepEqual(calls.at(-1), { path: "study/draft", body: { ...ONE, answer: "a", seconds: 3 } });
  answers = () => ({ kept: true });
  drafts.keep(draft);
  await drafts.send();
  assert.equal(kept.at(ONE), null);
});

test("the latest draft of an item: by revision, then by seconds", async () => {
  openPage(away);
  const drafts = createDrafts("Bea"), theirs = { answer: "theirs", seconds: 5 };
  assert.equal(drafts.latest("S", "one", 1, theirs), theirs);
  drafts.keep({ ...ONE, answer: "mine", seconds: 9, revision: 1 });
  await drafts.send();
  assert.equal(drafts.latest("S", "one", 1, theirs).answer, "mine");
  assert.equal(drafts.latest("S", "one", 1, { ...theirs, seconds: 10 }).answer, "theirs");
  assert.equal(drafts.latest("S", "one", 2, null), null); // answered since, in another window
  assert.equal(keptByItem("cirque.drafts.Bea").at(ONE), null);
});

test("an answer is sent again under its token until somebody answers", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  let answers = away;
  const { calls, store } = openPage((call) => answers(call));
  const said = [];
  const sending = createSending("Ada", ({ state }) => said.push(state));
  const told = sending.save({ ...ONE, answer: "a", seconds: 1, seen_revision: 0, then: "next" });
  assert.equal(sending.save({ ...ONE, answer: "a", seconds: 1, seen_revision: 0, then: "next" }), null); // the same press
  await rest();
  assert.deepEqual(said, ["saving", "waiting"]);
  assert.match(store.get("cirque.unsent.Ada"), /"answer":"a"/);
  answers = () => ({ saved: { revision: 1 }, desk: {} });
  mock.timers.tick(1000);
  await rest();
  const { saved, sent } = await told;
  assert.deepEqual([saved.revision, sent.answer], [1, "a"]);
  assert.deepEqual(calls.map(({ body }) => body.token), [sent.token, sent.token]);
  assert.equal(store.size, 0);
  assert.equal(said.at(-1), "");
  mock.timers.reset();
});

test("an answer that is refused is not sent again", async () => {
  const { calls, store } = openPage(() => ({ status: 409, problem: "Closed.", kind: "closed" }));
  const sending = createSending("Ada", () => {});
  await assert.rejects(sending.save({ ...ONE, answer: "a", seconds: 1, seen_revision: 0, then: "next" }), { kind: "closed", status: 409, message: "Closed." });
  assert.deepEqual([calls.length, store.size, sending.pending(ONE)], [1, 0, null]);
});

test("what is before and behind an item", async () => {
  const state = (item, position, how = "open") => ({ item, position, state: how, draft: false });
  openPage(() => ({ places: [state("c", 9), state("a", 2, "done"), state("b", 5)] }));
  const places = createPlaces("S", { one: "item", many: "items" });
  await places.load();
  assert.equal(places.number({ id: "c", position: 9 }), 3);
  assert.equal(places.nameOf("b"), "Item 2");
  assert.equal(places.nameOf("gone"), "");
  assert.equal(places.from({ id: "b", position: 5 }, -1), "a");
  assert.equal(places.from({ id: "c", position: 9 }, 1), undefined);
  assert.equal(places.from({ id: "gone", position: 4 }, 1), "b"); // of one that was handed on
  assert.equal(places.from({ id: "gone", position: 4 }, -1), "a");
  assert.equal(places.before(), "a");
  assert.deepEqual(places.changed(), []);
  places.begun("a");
  places.begun("b"); // begun and never saved is no change
  assert.deepEqual(places.changed(), [{ item: "a", name: "item 1" }]);
  places.note("b", "done");
  assert.equal(places.before(), "b");
});

test("what is typed as the page goes away is kept in this browser", () => {
  const { window } = openPage(away);
  const drafts = createDrafts("Cy"), draft = { ...ONE, answer: "a", seconds: 1, revision: 0 };
  drafts.keep(draft);
  window.happens("pagehide");
  assert.deepEqual(keptByItem("cirque.drafts.Cy").at(ONE), draft);
});

test("another answer to an item that waits goes under a token of its own", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { calls } = openPage(away);
  const sending = createSending("Dee", () => {}), press = { ...ONE, answer: "a", seconds: 1, seen_revision: 0, then: "next" };
  sending.save(press);
  await rest();
  sending.save({ ...press, answer: "b" }); // the first may have been heard, though nobody answered
  await rest();
  const [first, ...others] = calls.map(({ body }) => body);
  assert.deepEqual([first.answer, others.at(-1).answer], ["a", "b"]);
  assert.notEqual(first.token, others.at(-1).token);
  mock.timers.reset();
});

test("another answer pressed during a further try is sent, whatever becomes of that try", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  for (const heard of [true, false]) {
    const tries = [];
    const { calls, store } = openPage(() => new Promise((answer, fail) => { tries.push({ answer, fail }); }));
    const noAnswer = () => tries.at(-1).fail(new TypeError("no network"));
    const sending = createSending("Dee", () => {}), press = { ...ONE, answer: "a", seconds: 1, seen_revision: 0, then: "next" };
    const told = sending.save(press);
    await rest();
    noAnswer();
    await rest();
    mock.timers.tick(1000);
    await rest();
    sending.save({ ...press, answer: "b" }); // while "a" is on its way again
    if (heard) tries.at(-1).answer({ saved: { revision: 1 }, desk: {} });
    else noAnswer();
    await rest();
    mock.timers.tick(2000);
    await rest();
    assert.match(store.get("cirque.unsent.Dee"), /"answer":"b"/);
    tries.at(-1).answer({ saved: { revision: 1 + heard }, desk: {} });
    const { saved, sent, replaced } = await told;
    assert.deepEqual(calls.map(({ body }) => body.answer), ["a", "a", "b"]);
    assert.deepEqual([saved.revision, sent.answer, sent.seen_revision, replaced, store.size], [1 + heard, "b", Number(heard), true, 0]);
    assert.notEqual(sent.token, calls[0].body.token);
  }
  mock.timers.reset();
});

test("an answer that waited is not sent over a later one to its item", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const now = { item: { id: "one" }, revision: 2, answer: "elsewhere" };
  openPage(() => now);
  let check;
  const sending = { catchUp: async (asked) => { check = asked; return []; } };
  await createLate({ name: "S", drafts: { send() {} }, sending, places: {} }).settle({});
  const waited = { ...ONE, answer: "here", seen_revision: 1 };
  await assert.rejects(check(waited), { kind: "overtaken", revision: 2 });
  await check({ ...waited, seen_revision: 2 }); // it was given to that one
  await check({ ...waited, answer: "elsewhere " }); // the same answer
  mock.timers.reset();
});

test("every call says whom the page was opened for", async () => {
  const { headers } = openPage();
  openedBy("Zoë & co");
  await api("POST", "study/save", {});
  await api("GET", "study/mine");
  openedBy("");
  assert.deepEqual(headers.map((one) => one["X-Cirque-Person"]), Array(2).fill("Zo%C3%AB%20%26%20co"));
});

test("how long one has worked without a break of five minutes, in all tabs", async () => {
  openPage();
  const { duration, workedFor } = await import("../../assets/js/annotate/progress.js");
  const minute = 60000;
  assert.deepEqual([0, 4, 8, 13, 18.5, 20, 80].map((at) => workedFor(1e12 + at * minute) / 60), [0, 4, 8, 13, 0, 1.5, 0]);
  assert.equal(workedFor(1e12), 0, "the clock was set back");
  assert.equal(duration(25 * 60), "25 min");
});
