// The keyboard shortcuts of the chat page, as data.

interface Keys {
  name: string;
  /** `KeyboardEvent.key` in lower case. */
  key: string;
  /** Ctrl, or Command on a Mac. */
  isControl: boolean;
  isShift: boolean;
  /** Works in text fields, too. */
  isGlobal: boolean;
}

export const shortcuts = [
  { name: "newChat", key: "o", isControl: true, isShift: true, isGlobal: true },
  { name: "search", key: "k", isControl: true, isShift: false, isGlobal: true },
  { name: "composer", key: "/", isControl: false, isShift: false, isGlobal: false },
  { name: "stop", key: "escape", isControl: false, isShift: false, isGlobal: true },
  { name: "editLast", key: "e", isControl: true, isShift: true, isGlobal: true },
  { name: "copyLast", key: "c", isControl: true, isShift: true, isGlobal: true },
  { name: "list", key: "b", isControl: true, isShift: false, isGlobal: true },
  { name: "panel", key: ".", isControl: true, isShift: false, isGlobal: true },
  { name: "shortcuts", key: "?", isControl: false, isShift: true, isGlobal: false },
] as const satisfies readonly Keys[];

export type Shortcut = (typeof shortcuts)[number];

type PressedKey = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">;

/** The shortcut of a key press, if there is one. `isTyping`: the focus is in a text field. */
export function findShortcut(pressed: PressedKey, isTyping: boolean): Shortcut["name"] | undefined {
  if (pressed.altKey) return undefined;
  const isControl = pressed.ctrlKey || pressed.metaKey;
  // Layouts differ in where `?` and `/` are and whether they need Shift, so Shift is ignored for symbols.
  const isSymbol = (key: string) => /^[^a-z]$/.test(key);
  return shortcuts.find(
    (shortcut) =>
      shortcut.key === pressed.key.toLowerCase() &&
      shortcut.isControl === isControl &&
      (isSymbol(shortcut.key) || shortcut.isShift === pressed.shiftKey) &&
      (shortcut.isGlobal || !isTyping),
  )?.name;
}
