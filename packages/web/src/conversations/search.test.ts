import { describe, expect, it } from "vitest";

import { exampleConversation } from "../../test/examples.ts";
import type { Message } from "./conversation.ts";
import { cutExcerpt, searchChats } from "./search.ts";

const conversation = (id: string, title: string) => exampleConversation({ id, title });

const message = (conversationId: string, text: string): Message => ({
  role: "user",
  id: text,
  conversationId,
  parentId: null,
  createdAt: 0,
  text,
  attachments: [],
});

const conversations = [
  conversation("a", "Bread"),
  conversation("b", "Travel plans"),
  conversation("c", "Untitled"),
];
const messages = [
  message("a", "How long does rye take?"),
  message("b", "To Lisbon by TRAIN"),
  message("c", "train a model"),
];

async function find(words: string, signal = new AbortController().signal) {
  const found: string[] = [];
  const readMessages = async (id: string) => messages.filter((each) => each.conversationId === id);
  for await (const { conversation: each, excerpt } of searchChats({
    words,
    conversations,
    readMessages,
    signal,
  })) {
    found.push(`${each.id}:${excerpt ?? "title"}`);
  }
  return found;
}

describe("searchChats", () => {
  it("finds words in titles and in messages, whatever their case", async () => {
    expect(await find("bread")).toEqual(["a:title"]);
    expect(await find("Train")).toEqual(["b:To Lisbon by TRAIN", "c:train a model"]);
  });

  it("requires all words, in any order", async () => {
    expect(await find("model train")).toEqual(["c:train a model"]);
    expect(await find("train rye")).toEqual([]);
  });

  it("finds nothing for no words", async () => {
    expect(await find("  ")).toEqual([]);
  });

  it("ends when it is aborted", async () => {
    expect(await find("train", AbortSignal.abort())).toEqual([]);
  });
});

describe("cutExcerpt", () => {
  it("shows the passage around the words", () => {
    const text = `${"before ".repeat(20)}needle ${"after ".repeat(40)}`;
    const excerpt = cutExcerpt(text, ["needle"]);
    expect(excerpt).toMatch(/^….*needle.*…$/);
    expect(excerpt.length).toBeLessThan(120);
  });
});
