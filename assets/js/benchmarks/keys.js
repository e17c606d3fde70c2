// "/" to the search; j and k or the arrows from one to the next; Enter opens one in the search screen.
import { dialogOpen, typing } from "../shared/common.js";

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
    const strip = focused();
    if (event.key === "/") search.focus();
    else if (event.key === "j" || (event.key === "ArrowDown" && strip)) go(1);
    else if (event.key === "k" || (event.key === "ArrowUp" && strip)) go(-1);
    else if (event.key === "Enter" && strip && strip === document.activeElement) {
      const open = opener(), one = of(strip.dataset.key ?? "");
      if (open && one) open(one, null);
    } else return;
    event.preventDefault();
  }
  document.addEventListener("keydown", hear);
  return {
    // The first one can be reached by Tab.
    drawn() { list.firstElementChild?.setAttribute("tabindex", "0"); },
    leave: () => document.removeEventListener("keydown", hear),
  };
}
