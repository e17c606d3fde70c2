// The keys of the benchmarks screen.
import { dialogOpen } from "../shared/dialogs.js";
import { typing } from "../shared/elements.js";
import { rowOf } from "../shared/key-table.js";

/**
 * ``onStrip``: whether the focus is in a session or query; ``atStrip``: whether one has it itself.
 * @param {Partial<{ search(): void, go(by: number): void, open(): void, onStrip(): boolean, atStrip(): boolean }>} does
 * @returns {import("../shared/key-table.js").KeyRow[]}
 */
export const keyTable = (does) => [
  { keys: ["/"], text: "Search", does: does.search },
  { keys: ["j"], shown: "j  ↓", text: "Next session or query", does: () => does.go?.(1) }, { keys: ["ArrowDown"], when: does.onStrip, does: () => does.go?.(1) },
  { keys: ["k"], shown: "k  ↑", text: "Previous one", does: () => does.go?.(-1) }, { keys: ["ArrowUp"], when: does.onStrip, does: () => does.go?.(-1) },
  { keys: ["Enter"], text: "Open it in the search screen", when: does.atStrip, does: does.open },
  { keys: ["?"], text: "These keys" }, { keys: ["Esc"], text: "Close what is open" },
];

/**
 * @template One a session, or a query with targets
 * @param {HTMLElement} list @param {HTMLInputElement} search @param {() => ((one: One, button: null) => void) | null} opener
 * @param {(key: string) => One | undefined} of
 */
export function createKeys(list, search, opener, of) {
  const focused = () => /** @type {HTMLElement | null} */ (document.activeElement?.closest(".cq-be-strip") ?? null);
  function go(/** @type {number} */ by) {
    const strips = /** @type {HTMLElement[]} */ ([...list.children]), now = strips.findIndex((strip) => strip === focused());
    const next = strips[now < 0 ? 0 : Math.min(strips.length - 1, Math.max(0, now + by))];
    if (!next) return;
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  }
  function hear(/** @type {KeyboardEvent} */ event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || dialogOpen()) return;
    if (event.target === search && event.key === "Enter") return go(1);
    if (typing(event.target) || (event.target instanceof HTMLInputElement)) return;
    const strip = focused(), row = rowOf(keyTable({
      search: () => search.focus(), go, onStrip: () => Boolean(strip), atStrip: () => Boolean(strip) && strip === document.activeElement,
      open() {
        const open = opener(), one = of(strip?.dataset.key ?? "");
        if (open && one) open(one, null);
      },
    }), event);
    if (!row) return;
    row.does?.(event.key);
    event.preventDefault();
  }
  document.addEventListener("keydown", hear);
  return {
    // The first one can be reached by Tab.
    drawn() { list.firstElementChild?.setAttribute("tabindex", "0"); },
    leave: () => document.removeEventListener("keydown", hear),
  };
}
