import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { ChatChange } from "@ingle/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SqliteStore } from "../stored/sqlite-store.ts";
import { ChatStore, openChats } from "./chat-store.ts";

let folder: string;
let store: ChatStore;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-chats-"));
  store = await ChatStore.open(file());
});
afterEach(async () => {
  store[Symbol.dispose]();
  await rm(folder, { recursive: true, force: true });
});

const file = (): string => path.join(folder, "chats.db");
const conversation = (id: string, text = "{}"): ChatChange & { op: "put" } => ({
  op: "put",
  kind: "conversation",
  id,
  text,
  when: "always",
});
const message = (id: string, inside: string, text = "{}"): ChatChange & { op: "put" } => ({
  op: "put",
  kind: "message",
  id,
  conversation_id: inside,
  text,
  when: "always",
});
const change = (...changes: ChatChange[]): boolean[] => store.change({ page: "p", changes }).applied;
const texts = (conversationId: string): string[] =>
  store.inside({ conversation_id: conversationId, kind: "message" }).map(({ text }) => text);

describe("chats of the app", () => {
  it("outlive the server, with their messages and files", async () => {
    change(conversation("c", "chat"), message("m", "c", "hello"), {
      op: "put",
      kind: "file",
      id: "f",
      conversation_id: "c",
      text: "{}",
      when: "always",
    });
    store[Symbol.dispose]();
    store = await ChatStore.open(file());
    expect(store.list()).toEqual([
      { kind: "conversation", id: "c", conversation_id: null, revision: 1, text: "chat" },
    ]);
    expect(texts("c")).toEqual(["hello"]);
    expect(store.find({ kind: "file", id: "f" })).toMatchObject({ conversation_id: "c" });
  });

  it("are changed by two pages without losing either change", () => {
    change(conversation("c", "one"));
    const { revision } = store.find({ kind: "conversation", id: "c" }) ?? {};
    const based = (text: string): ChatChange => ({ ...conversation("c", text), revision }) as ChatChange;
    expect(change(based("two"))).toEqual([true]);
    expect(change(based("three"))).toEqual([false]);
    expect(store.find({ kind: "conversation", id: "c" })?.text).toBe("two");
  });

  it("take no message of a conversation that is gone, and no reply that was removed", () => {
    expect(change(message("m", "none"))).toEqual([false]);
    change(conversation("c"), message("m", "c"), { op: "remove", kind: "message", id: "m" });
    expect(change({ ...message("m", "c"), when: "present" })).toEqual([false]);
    change({ op: "remove", kind: "conversation", id: "c" });
    expect(change({ ...message("m", "c"), when: "always" })).toEqual([false]);
    expect([store.list(), texts("c")]).toEqual([[], []]);
  });

  it("do not move a message to another conversation", () => {
    change(conversation("a"), conversation("b"), message("m", "a", "mine"));
    expect(change(message("m", "b", "stolen"))).toEqual([false]);
    expect(texts("a")).toEqual(["mine"]);
  });

  it("that a browser brings replace none that are there", () => {
    change(conversation("c", "newer"));
    expect(change({ ...conversation("c", "older"), when: "absent" })).toEqual([false]);
    expect(store.list()[0]?.text).toBe("newer");
  });

  it("beyond their space are refused together, and deleting always works", async () => {
    store[Symbol.dispose]();
    store = await ChatStore.open(file(), { bytesMax: 10 });
    change(conversation("a", "12345678"));
    expect(() => change(conversation("b", "1"), conversation("c", "1234"))).toThrow("more space");
    expect(store.list().map(({ id }) => id)).toEqual(["a"]);
    expect(change({ op: "remove", kind: "conversation", id: "a" })).toEqual([true]);
  });

  it("that are deleted are not in the file any more", async () => {
    change(conversation("c"), message("m", "c", "very-secret ".repeat(1_000)), conversation("d", "kept"));
    change({ op: "remove", kind: "conversation", id: "c" });
    store[Symbol.dispose]();
    const bytes = await readFile(file());
    expect([bytes.includes("kept"), bytes.includes("very-secret")]).toEqual([true, false]);
  });
});

describe("the feed of changes", () => {
  it("names the page and the records of each change that was applied", () => {
    change(conversation("c"), message("m", "none"), message("n", "c"));
    change(message("m", "none"));
    store.note({ page: "q", type: "who-writes", id: "n" });
    expect(store.feed.after(0)).toEqual([
      {
        about: "changes",
        page: "p",
        changed: [
          { kind: "conversation", id: "c", conversation_id: null },
          { kind: "message", id: "n", conversation_id: "c" },
        ],
      },
      { about: "note", page: "q", note: "who-writes", id: "n" },
    ]);
    expect(store.feed.after(2)).toEqual([]);
  });

  it("tells a listener that is far behind to read everything again", () => {
    for (let at = 0; at < 1_001; at += 1) store.note({ page: "q", type: "i-write", id: String(at) });
    expect(store.feed.after(0)).toEqual([{ about: "missed" }]);
    expect(store.feed.after(1)).toHaveLength(1_000);
  });
});

describe("the place of chats", () => {
  const warnings: string[] = [];
  const open = (place: string) =>
    openChats({ place, configDir: folder, onWarning: (sentence) => warnings.push(sentence) });

  it("is a file of the user, the browser, or a named file", async () => {
    expect(await open("browser")).toBeUndefined();
    (await open("app"))?.[Symbol.dispose]();
    const other = path.join(folder, "deep", "other.db");
    (await open(other))?.[Symbol.dispose]();
    expect((await readFile(other)).subarray(0, 6).toString()).toBe("SQLite");
  });

  it("that cannot be used is a warning if it is the usual one, and an error if it was named", async () => {
    store[Symbol.dispose]();
    await writeFile(file(), "These are notes.\n".repeat(1_000));
    expect(await open("app")).toBeUndefined();
    expect(warnings.at(-1)).toMatch(/chats\.db cannot be opened: .*each browser keeps its own chats\.$/);
    await expect(open(file())).rejects.toMatchObject({ setting: "--chat-store" });
    await rm(file());
    store = await ChatStore.open(file());
  });

  it("is never a file of stored responses", async () => {
    const other = path.join(folder, "responses.db");
    const limits = { countMax: 9, bytesMax: 9, ageMaxMs: 9 };
    (await SqliteStore.open(other, limits))[Symbol.dispose]();
    await expect(open(other)).rejects.toThrow("belongs to something else");
    await expect(SqliteStore.open(file(), limits)).rejects.toThrow("belongs to something else");
  });
});
