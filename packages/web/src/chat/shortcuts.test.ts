import { describe, expect, it } from "vitest";

import { findShortcut, shortcuts } from "./shortcuts.ts";

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

describe("findShortcut", () => {
  it("accepts Ctrl and Command", () => {
    expect(findShortcut(press("k", { ctrlKey: true }), true)).toBe("search");
    expect(findShortcut(press("k", { metaKey: true }), true)).toBe("search");
    expect(findShortcut(press("O", { ctrlKey: true, shiftKey: true }), true)).toBe("newChat");
  });

  it("leaves symbols to a text field", () => {
    expect(findShortcut(press("/"), false)).toBe("composer");
    expect(findShortcut(press("/"), true)).toBeUndefined();
    expect(findShortcut(press("?", { shiftKey: true }), true)).toBeUndefined();
  });

  it("accepts a symbol with or without Shift", () => {
    expect(findShortcut(press("?", { shiftKey: true }), false)).toBe("shortcuts");
    expect(findShortcut(press("/", { shiftKey: true }), false)).toBe("composer");
  });

  it("ignores other keys", () => {
    expect(findShortcut(press("k"), false)).toBeUndefined();
    expect(findShortcut(press("k", { ctrlKey: true, shiftKey: true }), false)).toBeUndefined();
    expect(findShortcut(press("k", { ctrlKey: true, altKey: true }), false)).toBeUndefined();
  });

  it("assigns each key once", () => {
    const keys = shortcuts.map(({ key, isControl, isShift }) => `${key} ${isControl} ${isShift}`);
    expect(new Set(keys).size).toBe(keys.length);
  });
});
