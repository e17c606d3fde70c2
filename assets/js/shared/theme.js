// Light or dark: what was chosen on any page of this browser, else what the system says (Gradio follows that).
const THEME = "cirque.theme";

function applyTheme() {
  const asked = new URL(window.location.href).searchParams.get("__theme");
  let chosen = null;
  try { chosen = localStorage.getItem(THEME); } catch { /* private windows may not store anything */ }
  if (!asked && chosen) document.body.classList.toggle("dark", chosen === "dark");
}
applyTheme();

export function toggleTheme() {
  const dark = document.body.classList.toggle("dark");
  try { localStorage.setItem(THEME, dark ? "dark" : "light"); } catch { /* as above */ }
}
