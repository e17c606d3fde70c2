// The screens of judges and participants in other languages: every text of theirs goes through t(), and every catalogue has it.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { Linter } from "eslint";
import "./page.js";
import { number, t, tn, told, use } from "../../assets/js/shared/language.js";

const ASSETS = new URL("../../assets/", import.meta.url);
const SHARED = ["calls", "dialogs", "pictures"].map((name) => `js/shared/${name}.js`);
const OWNERS = ["js/annotate/main.js", "js/annotate/sample.js"]; // the list of studies, which has no language of its own
const files = [...readdirSync(new URL("js/", ASSETS), { recursive: true }).map((name) => `js/${name.replaceAll("\\", "/")}`)].filter((name) => name.endsWith(".js"));
const screens = files.filter((name) => (/^js\/(annotate|take)\//.test(name) && !OWNERS.includes(name)) || SHARED.includes(name));
const catalogues = Object.fromEntries(readdirSync(new URL("languages/", ASSETS)).map((name) =>
  [name.replace(".json", ""), JSON.parse(readFileSync(new URL(`languages/${name}`, ASSETS), "utf8"))]));

const NO_TEXT = new Set(["class", "role", "type", "for", "keys", "shown", "id", "style", "rel", "Accept", "Content-Type", "autocomplete", "autocapitalize"]);
const NO_CALL = new Set(["querySelector", "querySelectorAll", "closest", "matches", "matchMedia", "getAttribute", "addEventListener", "kbd", "startsWith", "includes"]);
const KEY = /^(Shift|Ctrl|Enter|Arrow\w+|Escape|Backspace|Space|Content-Type)\b/;
const prose = (text) => (/^[A-Z][a-z]/.test(text) || /[a-z“”{}]{2,}[,.:;]? [a-z“{]/.test(text)) && /[a-z]{3}/.test(text) && !KEY.test(text) && !/^(button|a|input):/.test(text);
const nameOf = (call) => call?.callee.name ?? call?.callee.property?.name;
const keysOf = (node) => (node?.type === "ConditionalExpression" ? [node.consequent, node.alternate] : [node]).flatMap((one) => (one?.type === "Literal" ? [one.value] : []));

/** Texts of ``source`` that are translated, and those that should be. */
function texts(source) {
  const keys = [], loose = [];
  const look = (context) => {
    const check = (node, text) => {
      const above = context.sourceCode.getAncestors(node), parent = above.at(-1);
      const call = above.findLast(({ type }) => type === "CallExpression");
      const within = above.some((one) => one.type === "CallExpression" && ["t", "tn", "told"].includes(nameOf(one)));
      const apart = ["ImportDeclaration", "ExportNamedDeclaration", "ImportExpression"].includes(parent.type) || (parent.type === "Property" && (parent.key === node || NO_TEXT.has(parent.key.name ?? parent.key.value)))
        || (parent.type === "BinaryExpression" && /^[!=]==$/.test(parent.operator)) || parent.type === "MemberExpression" || parent.type === "TaggedTemplateExpression";
      if (prose(text) && !within && !apart && !NO_CALL.has(nameOf(call))) loose.push(text);
    };
    return {
      Literal(node) { if (typeof node.value === "string") check(node, node.value); },
      TemplateLiteral(node) { check(node, node.quasis.map(({ value }) => value.cooked).join("{}")); },
      CallExpression(node) {
        if (nameOf(node) === "t") keys.push(...keysOf(node.arguments[0]));
        if (nameOf(node) === "tn") keys.push(...node.arguments.slice(1, 3).flatMap(keysOf));
      },
    };
  };
  const found = new Linter().verify(source, { plugins: { own: { rules: { texts: { create: look } } } }, rules: { "own/texts": "error" }, linterOptions: { reportUnusedDisableDirectives: "off" } });
  assert.deepEqual(found.filter(({ fatal }) => fatal), []);
  return { keys, loose };
}
const read = (name) => readFileSync(new URL(name, ASSETS), "utf8");
const holes = (text) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();

test("what looks for texts finds them", () => {
  const { keys, loose } = texts('h("p", { class: "one two", text: t("All {many}", {}) }, "Not said", `and ${more} here`, tn(n, "One", "{number} of them")); say(on ? t(a ? "Yes" : "No") : "was set");');
  assert.deepEqual(keys, ["All {many}", "One", "{number} of them", "Yes", "No"]);
  assert.deepEqual(loose, ["Not said", "and {} here", "was set"]);
});

test("every text on the screens of judges and participants can be translated", () => {
  assert.ok(screens.length > 30);
  const spared = new Set(["ss-step ss-target", "{} min", "Yes", "Cancel", "Save"]); // classes, a unit, and what asks those who run studies
  assert.deepEqual(screens.flatMap((name) => texts(read(name)).loose.filter((text) => !spared.has(text)).map((text) => `${name}: ${text}`)), []);
});

test("every catalogue has every text, with the same values", () => {
  const used = new Set(files.flatMap((name) => texts(read(name)).keys));
  assert.ok(used.size > 200 && "de" in catalogues);
  for (const [language, { language: own, texts: has }] of Object.entries(catalogues)) {
    assert.ok(own, language);
    assert.deepEqual([...used].filter((text) => !has[text]), [], language);
    for (const [english, text] of Object.entries(has)) assert.deepEqual(holes(text), holes(english), english);
  }
});

test("texts, numbers and sentences of the server", () => {
  use("de", { "All {many}": "Alle {many}", "One item": "Eine Aufgabe", "{number} items": "{number} Aufgaben", "Saved.": "Gespeichert.",
    "The note has {long} characters. Shorten it.": "Kürzen: {long} Zeichen.", "{many} left": "noch {many}",
    "{right} of {number} were right.": "{right} von {number} richtig." });
  assert.equal(t("All {many}", { many: "queries" }), "Alle queries");
  assert.deepEqual([1, 2, 1234].map((count) => tn(count, "One item", "{number} items")), ["Eine Aufgabe", "2 Aufgaben", "1.234 Aufgaben"]);
  assert.equal(t("Not there {number}", { number: 3 }), "Not there 3");
  assert.equal(told("Saved."), "Gespeichert.");
  assert.equal(told("The note has 1,234 characters. Shorten it."), "Kürzen: 1,234 Zeichen.");
  assert.equal(told("The note has (a.b)\n$1 characters. Shorten it."), "Kürzen: (a.b)\n$1 Zeichen.");
  assert.deepEqual(["The note has 7 characters.", "The note has  Shorten it.", ""].map(told), ["The note has 7 characters.", "The note has  Shorten it.", ""]);
  assert.equal(told("2 of 3 were right. Saved."), "2 von 3 richtig. Gespeichert.");
  assert.equal(told("2 of 3 were right. Something else."), "2 of 3 were right. Something else.");
  assert.equal(told("A name left"), "A name left"); // so short a text fits nearly anything
  use("en", {});
  assert.equal(told("Saved."), "Saved.");
  assert.equal(number(1234), "1,234");
});
