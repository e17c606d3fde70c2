// What the screens of studies and people share, in one import.
export { ApiProblem, api, messageOf } from "./calls.js";
export { closer, confirm, dialog, dialogOpen, setKeys, showKeys, signIn } from "./dialogs.js";
export { OWN, ROOT, at, h, icon, kbd, kept, say, style, toast, toggle, token, typing } from "./elements.js";
export { mountNav, toggleTheme } from "./nav.js";
export { openScreen } from "./screen.js";
