// The keys of the adjudication screen.

const PANS = /** @type {Record<string, [number, number]>} */ ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] });
export const LETTERS = "jknprz"; // commands: they take no judge's answer without Shift
const ALPHABET = [..."abcdefghijklmnopqrstuvwxyz"];

/**
 * ``does`` answers false where the key means nothing now.
 * @param {(by: number) => void} [step] @param {ReturnType<typeof import("./case.js").caseView> | null} [view] of the open case
 * @returns {import("../shared/key-table.js").KeyRow[]}
 */
export function keyTable(step, view) {
  const zoomed = () => Boolean(view?.pictures.zoomed);
  return [
    { keys: [...ALPHABET, ...ALPHABET.map((letter) => letter.toUpperCase())].filter((key) => !LETTERS.includes(key)), shown: "A  B  C",
      text: "Use that judge’s answer (with Shift while a flag asks for its reason)", does: (key) => view?.letter(key) ?? false },
    { keys: [..."123456789"], shown: "1  2  3 …", text: "Answer yourself", does: (key) => view?.digit(key) ?? false },
    { keys: [], shown: "a  b  c", text: "The reason of the flag set last" },
    { keys: ["n"], text: "Note on the item", does: () => view?.letter("n") || (view ? view.note() : false) },
    { keys: ["r"], text: "Reason for the decision", does: () => view?.letter("r") || (view ? view.reason() : false) },
    { keys: ["Enter", "Shift Enter"], shown: "Enter", text: "Decide and continue", does: () => (view ? void view.save() : false) },
    { keys: Object.keys(PANS), when: zoomed, does: (key) => view?.pictures.pan(...PANS[key]) },
    { keys: ["j", "ArrowDown", "ArrowRight"], shown: "j", text: "Next case (also ↓ →)", does: () => step?.(1) },
    { keys: ["k", "ArrowUp", "ArrowLeft"], shown: "k", text: "Previous case (also ↑ ←)", does: () => step?.(-1) },
    { keys: ["p"], text: "Retrieved images", does: () => view?.letter("p") || (view?.panel ? view.panel() : false) },
    { keys: ["z"], text: "Zoom; the arrows move it", does: () => view?.letter("z") || (view ? view.pictures.zoom(!zoomed()) : false) },
    { keys: ["Escape"], when: zoomed, does: () => view?.pictures.zoom(false) },
    { keys: ["Esc"], text: "Out of a text field" }, { keys: ["?"], text: "These keys" },
  ];
}
