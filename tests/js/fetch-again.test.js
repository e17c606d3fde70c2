// Pictures that could not be fetched come again once the server answers, and not for ever.
import assert from "node:assert/strict";
import test, { mock } from "node:test";
import { openPage } from "./page.js";

const turn = async () => { for (let round = 0; round < 20; round += 1) await Promise.resolve(); };

test("a picture is asked for again once the server is back, three times at most", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const page = openPage();
  page.window.setTimeout = setTimeout;
  Object.assign(page.document, { baseURI: "http://localhost/" });
  let there = false, looks = 0;
  globalThis.fetch = async () => {
    looks += 1;
    if (!there) throw new TypeError("Failed to fetch");
    return { ok: true };
  };
  const { fetchAgain } = await import("../../assets/js/shared/fetch-again.js");
  const asked = [];
  const image = { isConnected: true, getAttribute: () => "thumb?id=1", set src(value) { asked.push(value); } };
  const wait = async () => { mock.timers.tick(2000); await turn(); };
  assert.equal(fetchAgain(image), true);
  await wait();
  await wait();
  assert.deepEqual([asked.length, looks], [0, 2]);
  there = true;
  await wait();
  assert.deepEqual(asked, ["thumb?id=1"]);
  for (const time of [2, 3]) {
    assert.equal(fetchAgain(image), true);
    await wait();
    assert.equal(asked.length, time);
  }
  assert.equal(fetchAgain(image), false);
  await wait();
  assert.equal(looks, 5); // nothing waits any more
  assert.equal(fetchAgain({ isConnected: true, getAttribute: () => null }), false);
  mock.timers.reset();
});

test("where an original is away, the small copy takes its place with the reason", async () => {
  const page = openPage();
  Object.assign(page.document, { baseURI: "http://localhost/" });
  const { smallInstead } = await import("../../assets/js/shared/fetch-again.js");
  globalThis.fetch = async () => ({ ok: false, json: async () => ({ error: "a.jpg is missing." }) });
  const line = { textContent: "Rank 3" };
  let src = "media/full?gallery=g&image=full";
  const image = { getAttribute: () => src, set src(value) { src = value; }, closest: () => ({ querySelector: () => line }) };
  assert.equal(smallInstead(image), true);
  await turn();
  assert.deepEqual([src, line.textContent], ["media/thumb?gallery=g&image=full", "Rank 3 · a small copy: a.jpg is missing."]);
  assert.equal(smallInstead(image), false);
});
