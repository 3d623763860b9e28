import { describe, expect, it } from "vitest";

import { exampleReplyMessage } from "../../test/examples.ts";
import type { ReplyMessage } from "./conversation.ts";
import { storeUnsaved, saveUnsaved, type PlainStorage } from "./unsaved-replies.ts";

class MapStorage implements PlainStorage {
  readonly entries = new Map<string, string>();
  get length() {
    return this.entries.size;
  }
  key(at: number) {
    return [...this.entries.keys()][at] ?? null;
  }
  getItem(key: string) {
    return this.entries.get(key) ?? null;
  }
  setItem(key: string, value: string) {
    this.entries.set(key, value);
  }
  removeItem(key: string) {
    this.entries.delete(key);
  }
}

const reply = (id: string, text: string) =>
  exampleReplyMessage({ id, text }, { status: "interrupted", finish: null });

describe("unsaved replies", () => {
  it("are saved once, and other entries stay", async () => {
    const storage = new MapStorage();
    storage.setItem("ingle-theme", "dark");
    storeUnsaved(storage, [reply("a", "one"), reply("b", "two")]);
    const saved: ReplyMessage[] = [];
    const save = async (replies: readonly ReplyMessage[]) => {
      saved.push(...replies);
    };
    expect(await saveUnsaved(storage, save)).toEqual([reply("a", "one"), reply("b", "two")]);
    expect(await saveUnsaved(storage, save)).toEqual([]);
    expect(saved.map(({ id }) => id)).toEqual(["a", "b"]);
    expect([...storage.entries]).toEqual([["ingle-theme", "dark"]]);
  });

  it("stay if they cannot be saved", async () => {
    const storage = new MapStorage();
    storeUnsaved(storage, [reply("a", "one")]);
    const full = async () => {
      throw new Error("The disk is full.");
    };
    await expect(saveUnsaved(storage, full)).rejects.toThrow("The disk is full.");
    expect(await saveUnsaved(storage, async () => {})).toEqual([reply("a", "one")]);
  });

  it("stay if a newer state was stored while the older one was saved", async () => {
    const storage = new MapStorage();
    storeUnsaved(storage, [reply("a", "one")]);
    await saveUnsaved(storage, async () => storeUnsaved(storage, [reply("a", "one, two")]));
    expect(await saveUnsaved(storage, async () => {})).toEqual([reply("a", "one, two")]);
  });
});
