// What the address says of the view, and when it names another place.
import assert from "node:assert/strict";
import test from "node:test";
import "./page.js";
import { linkTo, samePlace, viewAt } from "../../assets/js/search/address.js";

const AT = "https://here.test/demo/";

test("the view takes the place of the one before, and leaves the rest of the address", () => {
  const turn = viewAt(`${AT}?__theme=dark`, "session=a&turn=b&branch=c&layout=map", false);
  assert.equal(turn, `${AT}?__theme=dark&session=a&turn=b&branch=c&layout=map`);
  assert.equal(viewAt(turn, "session=a&turn=d&branch=c", true), `${AT}?__theme=dark&session=a&turn=d&branch=c&presentation=on`);
  assert.equal(viewAt(`${AT}?session=a&turn=b&branch=c&fold=0.95&comparison=d&branches=e%2Cf&presentation=on`, "", false), AT);
  assert.equal(viewAt(`${AT}?session=old#top`, "session=a%26b", false), `${AT}?session=a%26b#top`);
});

test("another turn, comparison or session is another place; how it looks is not", () => {
  const same = (one, other) => samePlace(`${AT}?${one}`, `${AT}?${other}`);
  assert.ok(same("session=a&turn=b", "turn=b&session=a&layout=map&fold=0.9&presentation=on&branch=c&__theme=dark"));
  assert.ok(same("", "layout=map"));
  for (const other of ["session=a", "session=a&turn=c", "session=d&turn=b", "session=a&turn=b&comparison=e", "session=a&turn=b&branches=e%2Cf", ""]) {
    assert.ok(!same("session=a&turn=b", other), other);
  }
});

test("a link is without what this browser alone has chosen", () => {
  assert.equal(linkTo(`${AT}?__theme=dark&session=a&turn=b`), `${AT}?session=a&turn=b`);
  assert.equal(linkTo(`${AT}?session=a&turn=b&__theme=light&presentation=on`), `${AT}?session=a&turn=b&presentation=on`);
});
