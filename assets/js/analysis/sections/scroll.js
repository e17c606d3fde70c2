// A box that scrolls sideways: its edge fades where there is more. Answers what ends that.
export function sideways(/** @type {HTMLElement} */ box) {
  const mark = () => {
    const beyond = box.scrollWidth - box.clientWidth;
    box.classList.toggle("more-before", beyond > 1 && box.scrollLeft > 1);
    box.classList.toggle("more-after", beyond - box.scrollLeft > 1);
  };
  box.addEventListener("scroll", mark, { passive: true });
  const sized = new ResizeObserver(mark);
  for (const it of [box, ...box.children]) sized.observe(it);
  return () => sized.disconnect();
}
