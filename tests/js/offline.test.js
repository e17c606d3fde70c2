// Work without a connection: what is here of the next items, what is said, and what goes out afterwards.
import assert from "node:assert/strict";
import test, { mock } from "node:test";
import { openPage } from "./page.js";
import { createSending } from "../../assets/js/annotate/work/sending.js";
import { AHEAD, createStock } from "../../assets/js/annotate/work/stock.js";

const rest = async (rounds = 30) => { for (let round = 0; round < rounds; round += 1) await Promise.resolve(); };
const itemOf = (position) => ({ id: `i${position}`, position });
const deskAt = (position, ahead = [], more = {}) => ({ study: { name: "S" }, item: itemOf(position), answer: null, revision: 0, seconds: 0,
  draft: null, ahead: ahead.map((next) => ({ images: [`${next}-s.webp`], item: itemOf(next), draft: null })), ...more });
const upTo = (first, count) => Array.from({ length: count }, (_, number) => first + number);
const answered = (position) => ({ study: "S", item: `i${position}`, answer: "a", seconds: 4, seen_revision: 0, then: "next" });

function openStock() {
  openPage();
  const asked = []; // addresses, as they were asked for
  globalThis.Image = class {
    set src(address) { asked.push(address.replace(/.*\//, "")); }
    decode() { return Promise.resolve(); }
  };
  const pending = new Set();
  return { stock: createStock({ pending: (item) => pending.has(item) }), pending, asked };
}

test("the next ten are here before they are needed, with their pictures, and not every save brings some", () => {
  const { stock, pending, asked } = openStock();
  assert.equal(stock.wants, AHEAD);
  stock.put(deskAt(0, upTo(1, AHEAD)), AHEAD);
  assert.deepEqual(asked, upTo(1, AHEAD).map((next) => `${next}-s.webp`));
  let saves = 0;
  for (; stock.wants === 0; saves += 1) { // a save: what it is of is open no more as it leaves
    assert.ok(stock.next(itemOf(saves)));
    stock.answered(answered(saves), 1);
    stock.put(deskAt(saves + 1), 0);
  }
  assert.equal(saves, AHEAD - 9); // 10 are behind the one that is shown now
  pending.add(`i${saves}`);
  const offline = [];
  for (let at = itemOf(saves); stock.next(at); pending.add(at.id)) offline.push(at = stock.next(at).item);
  assert.deepEqual(offline, upTo(saves + 1, AHEAD - saves).map(itemOf));
});

test("what the server has no more of is not asked for again", () => {
  const { stock } = openStock();
  stock.put(deskAt(0, [1, 2]), AHEAD);
  assert.equal(stock.wants, 0);
});

test("nothing that comes behind a step is shown before it", () => {
  const { stock } = openStock();
  const desk = deskAt(0, [1]);
  stock.put({ ...desk, ahead: [...desk.ahead, { images: ["2-s.webp"] }] }, 2);
  assert.deepEqual(stock.next(itemOf(0)).item, itemOf(1));
  assert.equal(stock.next(itemOf(1)).item.id, "i0");
  stock.put({ ...deskAt(0), item: null, gate: { kind: "check" } }, 0);
  assert.equal(stock.next(itemOf(0)), null);
});

test("behind the last one the ones that were left out are shown, and an answered one with its answer", () => {
  const { stock } = openStock();
  stock.put(deskAt(0, [1, 2]), AHEAD);
  stock.answered(answered(0), 1);
  assert.equal(stock.next(itemOf(2)).item.id, "i1");
  assert.deepEqual([stock.at("i0").answer, stock.at("i0").revision, stock.at("gone")], ["a", 1, null]);
});

test("ten answers without a connection go out in order, each once", async () => {
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  let heard = () => { throw new TypeError("no network"); };
  const { calls, store, window } = openPage((call) => heard(call));
  const said = [];
  const sending = createSending("Ada", (what) => said.push(what), () => 20);
  const told = upTo(0, 10).map((position) => sending.save(answered(position)));
  await rest();
  assert.equal(sending.away, true);
  assert.deepEqual([sending.waiting, sending.fresh, Object.keys(JSON.parse(store.get("cirque.unsent.Ada"))).length], [10, 10, 10]);
  mock.timers.tick(120000);
  await rest();
  assert.match(said.at(-1).text, /^No connection for 2 minutes\. 10 answers are not sent yet\. They are kept in this browser/);
  const warning = { prevented: false, preventDefault() { this.prevented = true; } };
  for (const hears of window.heard.get("beforeunload")) hears(warning);
  assert.equal(warning.prevented, true);

  const before = calls.length, stored = [];
  let lost = true; // the server hears the third answer, and its word of it is lost
  heard = ({ body }) => {
    if (!stored.includes(body.token)) stored.push(body.token);
    if (stored.length === 3 && lost) { lost = false; throw new TypeError("connection reset"); }
    return { saved: { revision: 1 }, desk: {} };
  };
  window.happens("online");
  await rest(200);
  mock.timers.tick(10000);
  await rest(400);
  const sent = (await Promise.all(told)).map((one) => one.sent);
  assert.deepEqual(sent.map(({ item }) => item), upTo(0, 10).map((position) => `i${position}`));
  assert.deepEqual(stored, sent.map(({ token }) => token));
  assert.equal(calls.length - before, 11); // one of them twice
  assert.deepEqual(calls.slice(before).map(({ body }) => body.ahead).filter(Boolean), [20]); // only the last leads on
  assert.deepEqual([store.size, sending.away, said.at(-1).text], [0, false, ""]);
  mock.timers.reset();
});

test("an answer that waits is of its study, whatever the study is called by then", async () => {
  const { calls, store } = openPage(() => ({ saved: { revision: 1 }, desk: {} }));
  const sending = createSending("Ada", () => {});
  const { sent } = await sending.save({ ...answered(0), id: "5f00" });
  assert.deepEqual(calls.map(({ body }) => [body.study, "id" in body]), [["5f00", false]]);
  assert.deepEqual([sent.study, store.size], ["S", 0]);
});
