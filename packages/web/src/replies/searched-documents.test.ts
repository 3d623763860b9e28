import { describe, expect, it } from "vitest";

import { messageAttachments } from "../conversations/chat-storage.ts";
import type { Attachment, Message } from "../conversations/conversation.ts";
import { planSearch, type SearchOptions } from "./searched-documents.ts";

/** A document with this many tokens: one per character. */
const document = (name: string, tokens: number, isSearched?: boolean): Attachment => ({
  kind: "text",
  id: name,
  name,
  bytes: tokens,
  text: "a".repeat(tokens),
  ...(isSearched === undefined ? {} : { isSearched }),
});

function makePath(...questions: (readonly Attachment[])[]): Message[] {
  return questions.map((attachments, at): Message => ({
    role: "user",
    id: `${at}`,
    conversationId: "c",
    parentId: null,
    createdAt: at,
    text: "?",
    attachments: [...attachments],
  }));
}

const searchedIn = (path: readonly Message[]) =>
  path
    .flatMap(messageAttachments)
    .flatMap((each) => (each.kind === "text" && each.isSearched === true ? each.name : []));

async function planned(path: readonly Message[], options: Partial<SearchOptions> = {}) {
  const counted: number[] = [];
  const count = async (sent: readonly Message[]) => {
    const whole = sent
      .flatMap(messageAttachments)
      .filter((each) => each.kind === "text" && each.isSearched !== true);
    counted.push(whole.reduce((sum, { bytes }) => sum + bytes, 10 * sent.length));
    return counted.at(-1) ?? 0;
  };
  const plan = await planSearch({
    path,
    count,
    contextLength: 8_000,
    maxTokens: null,
    rolls: false,
    ...options,
  });
  return { ...plan, searched: searchedIn(plan.path), counted };
}

describe("planSearch", () => {
  it("sends documents whole that fit beside the reply", async () => {
    const path = makePath([document("a", 3_000)], [document("b", 3_000)]);
    const { searched, counted, path: after } = await planned(path);
    expect(searched).toEqual([]);
    expect(counted).toHaveLength(1);
    expect(after).toEqual(path);
  });

  it("searches the longest documents of the chat, as few as possible, with space for their passages", async () => {
    const path = makePath([document("a", 5_000)], [document("b", 3_000), document("c", 6_000)]);
    expect(await planned(path)).toMatchObject({ searched: ["a", "c"], budget: 2_000 });
    expect((await planned(makePath([document("a", 3_000), document("b", 5_000)]))).searched).toEqual(["b"]);
  });

  it("copies only messages that change", async () => {
    const path = makePath([document("a", 2_500)], [document("b", 9_000)]);
    const after = (await planned(path)).path;
    expect(after[0]).toBe(path[0]);
    expect(after[1]).not.toBe(path[1]);
    expect(searchedIn(path)).toEqual([]);
  });

  it("keeps short documents whole, whose passages would be no shorter, and uses what is left", async () => {
    const many = Array.from({ length: 8 }, (_nothing, at) => document(`${at}`, 900));
    expect(await planned(makePath([...many, document("s", 50_000, true)]))).toMatchObject({
      searched: ["s"],
      budget: 0,
    });
    expect(await planned(makePath([...many]), { rolls: true })).toMatchObject({
      searched: [],
      budget: 2_000,
    });
  });

  it("does not count a text that no context of this length can hold", async () => {
    const { searched, counted } = await planned(makePath([document("a", 1_000_000)]));
    expect(searched).toEqual(["a"]);
    expect(counted).toEqual([10]);
  });
});
