// A file of scores that somebody chose, as the server reads one from a disk.

// In bytes, as the server has it.
const MOST_BYTES = 8 * 2 ** 20;
const TOO_LARGE = "This file is larger than 8 MB. Remove columns that are not scores, or add it with the command: cirque report scores STUDY --add FILE";
const SHOWN_FAULTS = 5;

// Its text; ``remedy`` for one that is not UTF-8. Throws a sentence for what is no such file: nothing is guessed, and no letter is replaced.
export async function scoresText(/** @type {File} */ file, remedy = "Save it as “CSV UTF-8”.") {
  if (file.size > MOST_BYTES) throw new Error(TOO_LARGE);
  let bytes;
  try {
    bytes = new Uint8Array(await file.arrayBuffer());
  } catch {
    throw new Error(`${file.name} could not be read. Choose it again.`);
  }
  const mark = [...bytes.subarray(0, 2)].join(" ");
  const marked = /** @type {Record<string, string>} */ ({ "255 254": "utf-16le", "254 255": "utf-16be" });
  try {
    return new TextDecoder(marked[mark] ?? "utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error(`${file.name} is not UTF-8. ${remedy}`);
  }
}

// A sentence of the server with a fault a line: the first of them, and how many more there are.
export function firstFaults(/** @type {string} */ text) {
  const [head, ...faults] = text.split("\n");
  const rest = /^\s*and ([\d,]+) more$/.exec(faults.at(-1) ?? "");
  if (rest) faults.pop();
  const more = Math.max(faults.length - SHOWN_FAULTS, 0) + Number((rest?.[1] ?? "0").replaceAll(",", ""));
  return [head, ...faults.slice(0, SHOWN_FAULTS).map((fault) => fault.trim()), ...(more ? [`and ${more.toLocaleString("en")} more`] : [])].join("\n");
}
