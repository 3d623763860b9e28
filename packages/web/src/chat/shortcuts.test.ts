import { describe, expect, it } from "vitest";

import { shortcutOf, shortcuts } from "./shortcuts.ts";

const press = (
  key: string,
  modifiers: Partial<Record<"ctrlKey" | "metaKey" | "shiftKey" | "altKey", boolean>> = {},
) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  shiftKey: false,
  altKey: false,
  ...modifiers,
});

describe("shortcutOf", () => {
  it("accepts Ctrl and Command", () => {
    expect(shortcutOf(press("k", { ctrlKey: true }), true)).toBe("search");
    expect(shortcutOf(press("k", { metaKey: true }), true)).toBe("search");
    expect(shortcutOf(press("O", { ctrlKey: true, shiftKey: true }), true)).toBe("newChat");
  });

  it("leaves symbols to a text field", () => {
    expect(shortcutOf(press("/"), false)).toBe("composer");
    expect(shortcutOf(press("/"), true)).toBeUndefined();
    expect(shortcutOf(press("?", { shiftKey: true }), true)).toBeUndefined();
  });

  it("accepts a symbol with or without Shift", () => {
    expect(shortcutOf(press("?", { shiftKey: true }), false)).toBe("shortcuts");
    expect(shortcutOf(press("/", { shiftKey: true }), false)).toBe("composer");
  });

  it("ignores other keys", () => {
    expect(shortcutOf(press("k"), false)).toBeUndefined();
    expect(shortcutOf(press("k", { ctrlKey: true, shiftKey: true }), false)).toBeUndefined();
    expect(shortcutOf(press("k", { ctrlKey: true, altKey: true }), false)).toBeUndefined();
  });

  it("assigns each key once", () => {
    const keys = shortcuts.map(({ key, isControl, isShift }) => `${key} ${isControl} ${isShift}`);
    expect(new Set(keys).size).toBe(keys.length);
  });
});
