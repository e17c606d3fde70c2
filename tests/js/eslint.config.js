// From the root of the checkout: eslint --config tests/js/eslint.config.js assets/js tests/js
import js from "@eslint/js";
import globals from "globals";

const PARSED = "Nothing is parsed as HTML: build elements with h().";

export default [
  js.configs.recommended,
  {
    rules: {
      eqeqeq: "error",
      "no-var": "error",
      "prefer-const": ["error", { destructuring: "all" }],
      "no-restricted-properties": ["error", ...["innerHTML", "outerHTML", "insertAdjacentHTML"].map((property) => ({ property, message: PARSED }))],
    },
  },
  { files: ["assets/js/**/*.js"], languageOptions: { globals: globals.browser } },
  { files: ["tests/js/**/*.js"], languageOptions: { globals: globals.node } },
];
