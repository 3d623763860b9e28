// The keys of the chat page: which do what, as data for the list that shows them and for the handler.

export type ShortcutName =
  | "newChat"
  | "search"
  | "composer"
  | "stop"
  | "editLast"
  | "copyLast"
  | "list"
  | "panel"
  | "shortcuts";

export interface Shortcut {
  name: ShortcutName;
  /** As `KeyboardEvent.key`, in lower case. */
  key: string;
  /** Ctrl, or Command on a Mac. */
  isControl: boolean;
  isShift: boolean;
  /** It works while something is written, too. */
  isGlobal: boolean;
}

export const shortcuts: readonly Shortcut[] = [
  { name: "newChat", key: "o", isControl: true, isShift: true, isGlobal: true },
  { name: "search", key: "k", isControl: true, isShift: false, isGlobal: true },
  { name: "composer", key: "/", isControl: false, isShift: false, isGlobal: false },
  { name: "stop", key: "escape", isControl: false, isShift: false, isGlobal: true },
  { name: "editLast", key: "e", isControl: true, isShift: true, isGlobal: true },
  { name: "copyLast", key: "c", isControl: true, isShift: true, isGlobal: true },
  { name: "list", key: "b", isControl: true, isShift: false, isGlobal: true },
  { name: "panel", key: ".", isControl: true, isShift: false, isGlobal: true },
  { name: "shortcuts", key: "?", isControl: false, isShift: true, isGlobal: false },
];

interface PressedKey {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  altKey: boolean;
}

/** What a key does; undefined when it does nothing here. `isWriting`: the focus is where something is written. */
export function shortcutOf(pressed: PressedKey, isWriting: boolean): ShortcutName | undefined {
  if (pressed.altKey) return undefined;
  const isControl = pressed.ctrlKey || pressed.metaKey;
  // Where `?` and `/` lie, and whether with Shift, differs by the keyboard: for signs, the sign itself counts.
  const isSign = (key: string) => /^[^a-z]$/.test(key);
  return shortcuts.find(
    (shortcut) =>
      shortcut.key === pressed.key.toLowerCase() &&
      shortcut.isControl === isControl &&
      (isSign(shortcut.key) || shortcut.isShift === pressed.shiftKey) &&
      (shortcut.isGlobal || !isWriting),
  )?.name;
}
