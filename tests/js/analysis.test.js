// The analysis screen: its address, short names, CSV files; and numbers in words.
import assert from "node:assert/strict";
import test from "node:test";
import { AS_USUAL, EVERYTHING, addressOf, filtered, readView, unusual, wanted, wantedReport } from "../../assets/js/analysis/address.js";
import { scoresText, firstFaults } from "../../assets/js/analysis/score-files.js";
import { shortened } from "../../assets/js/analysis/chips.js";
import { detailsOf, groupInWords, inWords } from "../../assets/js/admin/log-words.js";
import { duration } from "../../assets/js/annotate/progress.js";
import { ago, lasting, percent, plural } from "../../assets/js/shared/words.js";

const HERE = "http://host/base/analysis";
const view = (query) => readView(`${HERE}?${query}`);
const address = (of, now = HERE) => {
  globalThis.window = { location: { href: now } };
  return addressOf(of).href;
};

test("an address and what is looked at lead to each other", () => {
  const query = "study=A+b&dataset=cirr&dataset=circo&category=x&person=2&person=11&block=1&names=hidden&draws=200&seed=7&rules=none";
  const read = view(query);
  assert.deepEqual([read.study, read.datasets, read.categories, read.people, read.block, read.names, read.draws, read.seed, read.rules],
    ["A b", ["cirr", "circo"], ["x"], [2, 11], true, true, "200", "7", "none"]);
  assert.deepEqual(read.ignored, []);
  assert.equal(address(read), `${HERE}?${query}`);
});

test("nothing that goes without saying is in an address, and what others put there stays", () => {
  const plain = view("study=A&draws=1000&k=5");
  assert.equal(address(plain, `${HERE}?__theme=dark&person=3`), `${HERE}?__theme=dark&study=A`);
  assert.ok(!filtered(plain) && !unusual(plain));
  assert.ok(filtered({ ...plain, people: [1] }) && !filtered({ ...plain, people: [1], ...EVERYTHING }));
  assert.ok(unusual({ ...plain, rules: "" }) && !unusual({ ...plain, rules: "", ...AS_USUAL }));
});

test("a value that cannot be used is left out, and said", () => {
  const read = view(`study=A&draws=1e4&seed=-1&k=6&plan=2&person=Ada&block=yes&resample=${"x".repeat(60)}`);
  assert.deepEqual([read.draws, read.seed, read.k, read.plan, read.people, read.block, read.resample], ["1000", "", "5", "", [], false, "items"]);
  assert.equal(read.ignored.length, 7);
  assert.ok(read.ignored.includes("draws=1e4 is not a whole number from 0 to 10,000 and was left out."));
  assert.ok(read.ignored.some((it) => it.startsWith(`resample=${"x".repeat(40)}… `)));
  assert.deepEqual([view("names=no").names, view("names=no").ignored], [true, ["names=no is neither shown nor hidden and names are hidden."]]);
});

const VALIDITY = { id: "7", words: { options: ["block"], undefined: "κ" } };
test("the server is asked for what its kind of study has", () => {
  const look = view("study=A&undefined=one&k=1,3&seed=4&plan=0.1&names=hidden&dataset=cirr&person=2&rules=irrelevant");
  const validity = wanted(look, VALIDITY), preference = wanted(look, { id: "7", words: { options: ["k", "resample", "rule"], undefined: "" } });
  assert.deepEqual([validity.get("study"), validity.get("names"), validity.get("undefined"), validity.get("k"), validity.get("rules")], ["7", "hidden", "one", null, null]);
  assert.deepEqual([preference.get("undefined"), preference.get("k"), preference.get("rules")], [null, "1,3", "irrelevant"]);
  assert.deepEqual(JSON.parse(validity.get("select")), { datasets: ["cirr"], categories: [], people: [2], block_only: false });
  assert.equal(wantedReport(look, VALIDITY).get("plan"), "0.1");
  const points = wantedReport(look, VALIDITY, 0); // planning rests on draws
  assert.deepEqual([points.get("draws"), points.get("plan")], ["0", null]);
});

test("short names stay apart", () => {
  assert.deepEqual(shortened(["short", "names"]), ["short", "names"]);
  const long = ["shortcut image only and more of it", "an altogether other name, also long"];
  for (const name of shortened(long)) assert.equal([...name].length, 26);
  const alike = ["a", "b"].map((letter) => `${"the same beginning ".repeat(3)}${letter}${" and the same end".repeat(3)}`);
  const [one, other] = shortened(alike);
  assert.notEqual(one, other);
  assert.ok(one.includes("a and") && other.includes("b and"));
  assert.equal(shortened(["👩".repeat(30)])[0], `${"👩".repeat(15)}…${"👩".repeat(10)}`);
});

test("a CSV file is read as it is encoded, or not at all", async () => {
  const file = (bytes) => new File([new Uint8Array(bytes)], "scores.csv");
  assert.equal(await scoresText(file([0xef, 0xbb, 0xbf, 0x61, 0x2c, 0xc3, 0xa4])), "a,ä");
  assert.equal(await scoresText(file([0xff, 0xfe, 0x61, 0, 0x2c, 0])), "a,");
  assert.equal(await scoresText(file([0xfe, 0xff, 0, 0x61])), "a");
  await assert.rejects(scoresText(file([0x61, 0xe4])), /scores\.csv is not UTF-8/);
  await assert.rejects(scoresText({ size: 9 * 2 ** 20, name: "large.csv" }), /larger than 8 MB/);
});

test("the first faults of a file, and how many more", () => {
  const lines = Array.from({ length: 8 }, (_, number) => `  line ${number}`);
  assert.equal(firstFaults("Wrong:\n  one"), "Wrong:\none");
  assert.equal(firstFaults(["Wrong:", ...lines].join("\n")).split("\n").at(-1), "and 3 more");
  assert.equal(firstFaults(["Wrong:", ...lines, "  and 1,200 more"].join("\n")).split("\n").at(-1), "and 1,203 more");
});

test("numbers and times in words", () => {
  assert.deepEqual([percent(0, 0), percent(1, 3), percent(999, 1000), percent(1000, 1000)], [0, 33, 99, 100]); // 100 only when all is done
  assert.deepEqual([plural(1, "study", "studies"), plural(1200, "item")], ["1 study", "1,200 items"]);
  assert.deepEqual([null, 99, 100, 5940, 6000, 36000].map(lasting), ["–", "99 s", "2 min", "99 min", "1.7 h", "10 h"]);
  assert.deepEqual([20, 90, 3540, 5400, 5520].map(duration), ["less than a minute", "2 min", "59 min", "1 h 30", "1 h 30"]);
  const before = (seconds) => ago(new Date(Date.now() - 1000 * seconds).toISOString());
  assert.deepEqual([ago(null), before(10), before(600), before(7200), before(864000)], ["–", "just now", "10 min ago", "2 h ago", "10 days ago"]);
});

test("acts in words; those of a later version as they are", () => {
  assert.deepEqual([inWords("sign-in"), inWords("study.flown"), groupInWords("study.all"), groupInWords("x.all")], ["signed in", "study.flown", "Studies: all", "x.all: all"]);
  assert.equal(detailsOf({ role_before: "admin", days: 7, forms: ["a", "b"] }), "role before: admin · days: 7 · forms: a, b");
});
