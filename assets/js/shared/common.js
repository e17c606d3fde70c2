// What the screens of studies and people share, in one import.
export { ApiProblem, api, messageOf } from "./calls.js";
export { copy } from "./files.js";
export { askText, closer, confirm, dialog, dialogOpen, once, setKeys, showKeys, signIn, tell } from "./dialogs.js";
export { OWN, ROOT, at, field, h, icon, kept, keptInTab, on, say, stay, style, tellIn, toast, toggle, token, typing } from "./elements.js";
export { kbd } from "./key-table.js";
export { mountNav, screens, visitor } from "./nav.js";
export { createDelay, createGuard, stirs, until } from "./rest.js";
export { createViews, openScreen } from "./screen.js";
export { toggleTheme } from "./nav.js";
