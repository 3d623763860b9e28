import { expect, it } from "vitest";
import type { UnreadMessage } from "../../../content/content-parts.ts";
import { StoredChats } from "./stored-chats.ts";

const messages = (...texts: string[]): UnreadMessage[] => texts.map((content) => ({ role: "user", content }));
const readTexts = (chats: StoredChats, id: string) => chats.get(id)?.messages.map(({ content }) => content);

/** Follows a response as a request does. */
function follow(chats: StoredChats, id: string, previousId: string | undefined, ...texts: string[]): void {
  const before = previousId === undefined ? [] : (chats.get(previousId)?.messages ?? []);
  chats.add(id, { system: undefined, messages: messages(...texts) }, { previousId, before });
}

it("goes on with every response, also with one that others have followed", () => {
  const chats = new StoredChats();
  follow(chats, "a", undefined, "1", "2");
  follow(chats, "b", "a", "3");
  follow(chats, "c", "a", "4");
  follow(chats, "d", "b", "5");
  expect(readTexts(chats, "d")).toEqual(["1", "2", "3", "5"]);
  expect(readTexts(chats, "c")).toEqual(["1", "2", "4"]);
  expect(readTexts(chats, "a")).toEqual(["1", "2"]);
  expect(chats.get("absent")).toBeUndefined();
});

it("forgets the response that was used least recently, and keeps the chats that follow it", () => {
  const chats = new StoredChats({ responses: 2, units: 1e6 });
  follow(chats, "a", undefined, "1");
  follow(chats, "b", "a", "2");
  follow(chats, "c", "b", "3");
  expect(chats.get("a")).toBeUndefined();
  expect(readTexts(chats, "c")).toEqual(["1", "2", "3"]);
  chats.get("b");
  follow(chats, "d", undefined, "4");
  expect(chats.get("c")).toBeUndefined();
  expect(readTexts(chats, "b")).toEqual(["1", "2"]);
});

it("keeps what precedes a response whose predecessor was forgotten meanwhile", () => {
  const chats = new StoredChats({ responses: 1, units: 1e6 });
  follow(chats, "a", undefined, "1");
  const before = chats.get("a")?.messages ?? [];
  follow(chats, "other", undefined, "x");
  chats.add("b", { system: "S", messages: messages("2") }, { previousId: "a", before });
  expect(readTexts(chats, "b")).toEqual(["1", "2"]);
  expect(chats.get("b")?.system).toBe("S");
});

it("counts what is kept, frees what nobody can reach, and always keeps the newest", () => {
  const chats = new StoredChats({ responses: 100, units: 2_000 });
  follow(chats, "a", undefined, "x".repeat(500));
  const one = chats.units;
  expect(one).toBeGreaterThan(500);
  follow(chats, "b", "a", "x".repeat(500));
  expect(chats.units).toBe(2 * one);
  follow(chats, "c", undefined, "x".repeat(1_000)); // a is forgotten, but b needs it: b goes as well
  expect([chats.get("a"), chats.get("b")]).toEqual([undefined, undefined]);
  expect(chats.units).toBeLessThan(2 * one);
  follow(chats, "d", undefined, "x".repeat(5_000));
  expect(chats.get("c")).toBeUndefined();
  expect(readTexts(chats, "d")).toHaveLength(1);
  follow(chats, "e", undefined, "x");
  expect(chats.get("d")).toBeUndefined();
  expect(chats.units).toBeLessThan(500);
});
