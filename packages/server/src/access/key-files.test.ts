import { describe, expect, it } from "vitest";
import { isOpenToOthers } from "./key-files.ts";

describe("a file of keys is open to others", () => {
  const user = 1000;

  it("when its owner lets a group or everybody read it", () => {
    const isOpen = (mode: number): boolean => isOpenToOthers({ mode, uid: user }, user);
    expect([0o600, 0o640, 0o604, 0o644].map(isOpen)).toEqual([false, true, true, true]);
  });

  it("only when everybody may read it, where its owner is somebody else and the group is how this user reads it", () => {
    const isOpen = (mode: number): boolean => isOpenToOthers({ mode, uid: 0 }, user);
    expect([0o440, 0o640, 0o444].map(isOpen)).toEqual([false, false, true]);
  });

  it("never where there are no such rights, as on Windows", () => {
    expect(isOpenToOthers({ mode: 0o666, uid: 0 }, undefined)).toBe(false);
  });
});
