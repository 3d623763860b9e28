import { describe, expect, it } from "vitest";
import { isReadableByOthers } from "./key-file-rights.ts";

describe("others can read a file of keys", () => {
  const user = 1000;

  it("when its owner lets a group or everybody read it", () => {
    const isReadable = (mode: number): boolean => isReadableByOthers({ mode, uid: user }, user);
    expect([0o600, 0o640, 0o604, 0o644].map(isReadable)).toEqual([false, true, true, true]);
  });

  it("only when everybody may read it, where its owner is somebody else and the group is how this user reads it", () => {
    const isReadable = (mode: number): boolean => isReadableByOthers({ mode, uid: 0 }, user);
    expect([0o440, 0o640, 0o444].map(isReadable)).toEqual([false, false, true]);
  });

  it("never where there are no such rights, as on Windows", () => {
    expect(isReadableByOthers({ mode: 0o666, uid: 0 }, undefined)).toBe(false);
  });
});
