import fc from "fast-check";
import { expect, test } from "vitest";
import { MemoryStore } from "./record-store.ts";
import { anyCommands, expectAsModel, limits } from "../../test/store-model.ts";

test("whatever is put, read and deleted in any order, it holds the newest records within its limits", () => {
  fc.assert(
    fc.property(anyCommands, (commands) => {
      let now = 0;
      const store = new MemoryStore(limits, () => now);
      expectAsModel(store, commands, (at) => (now = at));
      const { count, bytes } = store.size;
      expect(count).toBeLessThanOrEqual(limits.countMax);
      expect(bytes).toBeLessThanOrEqual(limits.bytesMax);
    }),
  );
});

test("counts bytes of UTF-8", () => {
  const store = new MemoryStore(limits);
  store.put({ id: "a", owner: "", text: "ü🦆" });
  expect(store.size).toEqual({ count: 1, bytes: 6 });
  store.put({ id: "a", owner: "", text: "x" });
  expect(store.size).toEqual({ count: 1, bytes: 1 });
});
