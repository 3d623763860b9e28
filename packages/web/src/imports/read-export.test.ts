import { describe, expect, it } from "vitest";

import { exampleConversation } from "../../test/examples.ts";
import { chatGptConversation, lmStudioConversation, openWebUiRow } from "../../test/foreign-exports.ts";
import { makeArchive } from "../conversations/chat-archive.ts";
import type { ArchivedChat, Message, ReplyMessage } from "../conversations/conversation.ts";
import { linearPath, makeTree, findSiblings } from "../conversations/message-tree.ts";
import { readExport } from "./read-export.ts";

const now = 1_800_000_000_000;

function read(value: unknown) {
  const found = readExport(JSON.stringify(value), now);
  if (found === undefined) throw new Error("The export was not recognized.");
  const chats = [...found.chats()];
  return { ...found, chats, leftOut: found.leftOut() };
}

function only(chats: readonly (ArchivedChat | undefined)[]): ArchivedChat {
  const [chat] = chats;
  if (chat === undefined || chats.length !== 1) throw new Error("There is not exactly one chat.");
  return chat;
}

const toTree = ({ conversation, messages }: ArchivedChat) =>
  makeTree(
    messages.toSorted((a, b) => a.createdAt - b.createdAt),
    conversation.chosen,
  );
const messageTexts = (messages: readonly Message[]) => messages.map(({ text }) => text);
const findReply = ({ messages }: ArchivedChat, text: string): ReplyMessage => {
  const found = messages.find((message) => message.text === text);
  if (found?.role !== "assistant") throw new Error(`There is no reply "${text}".`);
  return found;
};

describe("ChatGPT's conversations.json", () => {
  const result = read([chatGptConversation()]);
  const chat = only(result.chats);

  it("is recognized, with titles and times", () => {
    expect(result).toMatchObject({ source: "ChatGPT", count: 1, folders: [], presets: [] });
    expect(chat.conversation).toMatchObject({
      title: "Piers 0",
      isNamed: true,
      createdAt: 1_699_999_999_250,
      updatedAt: 1_700_000_100_000,
    });
  });

  it("keeps its branches, and shows the current one", () => {
    const tree = toTree(chat);
    expect(messageTexts(linearPath(tree))).toEqual(["How long is Southend Pier? (0)", "2,158 metres."]);
    const { id, parentId } = findReply(chat, "2,158 metres.");
    expect(messageTexts(findSiblings(tree, id))).toEqual([
      "2,158 metres.",
      "It is 2,158 m long.",
      "An older try.",
    ]);
    expect(messageTexts(findSiblings(tree, parentId ?? ""))).toEqual([
      "How long is the pier?",
      "How long is Southend Pier? (0)",
    ]);
    expect(messageTexts(chat.messages).toSorted()).toEqual(
      [
        "How long is the pier?",
        "Which pier?",
        "How long is Southend Pier? (0)",
        "2,158 metres.",
        "It is 2,158 m long.",
        "Thank you!",
        "You are welcome.",
        "An older try.",
      ].toSorted(),
    );
  });

  it("joins the steps of a reply: thoughts before calls belong to what follows", () => {
    expect(findReply(chat, "It is 2,158 m long.").reply).toMatchObject({
      model: "gpt-5",
      thinking: "I should look this up.",
      thinkingMs: null,
      status: "done",
    });
  });

  it("counts what it has no place for", () => {
    expect(result.leftOut).toEqual({ images: 1, files: 1, audio: 1, tools: 2 });
  });
});

describe("Open WebUI's export", () => {
  const result = read([openWebUiRow()]);
  const chat = only(result.chats);

  it("is recognized, with the system prompt and times", () => {
    expect(result.source).toBe("Open WebUI");
    expect(chat.conversation).toMatchObject({
      title: "Harbour",
      createdAt: 1_720_000_000_000,
      updatedAt: 1_720_000_006_000,
      settings: { systemPrompt: "Answer shortly." },
    });
  });

  it("keeps replies of several models side by side, and later tries apart", () => {
    const tree = toTree(chat);
    expect(messageTexts(linearPath(tree))).toEqual(["What is on it?", "One pixel.", "Sure?", "Yes."]);
    const [llama, qwen, again] = ["A harbour.", "One pixel.", "A harbour at night."].map((text) =>
      findReply(chat, text),
    );
    expect(qwen?.reply.round).toBe(llama?.reply.round);
    expect(again?.reply.round).not.toBe(llama?.reply.round);
    expect([llama?.reply.model, qwen?.reply.model]).toEqual(["llama3.1:8b", "qwen3:4b"]);
  });

  it("takes images and texts that it holds, and counts the others", () => {
    const [question] = linearPath(toTree(chat));
    expect(question?.role === "user" && question.attachments).toMatchObject([
      { kind: "image", type: "image/png", bytes: 70 },
      { kind: "text", name: "notes.md", text: "The harbour." },
    ]);
    expect(Object.values(chat.images)).toEqual([expect.stringMatching(/^data:image\/png;base64,iVBOR/)]);
    expect(result.leftOut).toEqual({ images: 1, files: 1, tools: 1 });
  });

  it("reads thoughts from the text", () => {
    expect(findReply(chat, "One pixel.").reply).toMatchObject({
      thinking: "It is a small image.\nSo <1 px>.",
      thinkingMs: 7_000,
    });
  });

  it("reads a single chat, and an old one that is a list", () => {
    const messages = [
      { id: "1", role: "user", content: "Hi" },
      { id: "2", role: "assistant", content: "Hello", model: "m" },
    ];
    const old = only(read([{ chat: { title: "", messages } }]).chats);
    expect(messageTexts(linearPath(toTree(old)))).toEqual(["Hi", "Hello"]);
    expect(old.conversation).toMatchObject({ title: "Hi", isNamed: false, createdAt: now });
    expect(read(openWebUiRow()).count).toBe(1);
  });
});

describe("LM Studio's conversation file", () => {
  const result = read(lmStudioConversation());
  const chat = only(result.chats);

  it("is recognized, with the system prompt of the chat", () => {
    expect(result.source).toBe("LM Studio");
    expect(chat.conversation).toMatchObject({
      title: "Lighthouses",
      createdAt: 1_730_000_000_000,
      settings: { systemPrompt: "You know lighthouses." },
    });
  });

  it("keeps versions as branches, and goes on from the selected one", () => {
    const tree = toTree(chat);
    expect(messageTexts(linearPath(tree))).toEqual([
      "Which lighthouse is this?",
      "Probably Smeaton's Tower.",
      "Thanks",
      "With pleasure.",
    ]);
    const { id } = findReply(chat, "Eddystone.");
    expect(messageTexts(findSiblings(tree, id))).toEqual(["Eddystone.", "Probably Smeaton's Tower."]);
  });

  it("reads thoughts of both forms and names of models", () => {
    expect(findReply(chat, "Probably Smeaton's Tower.").reply).toMatchObject({
      model: "qwen/qwen3-4b",
      thinking: "Red and white.",
    });
    expect(findReply(chat, "With pleasure.").reply).toMatchObject({
      thinking: "Easy.",
      model: "qwen/qwen3-4b",
    });
    expect(findReply(chat, "Eddystone.").reply.model).toBe("google/gemma-3-4b");
  });

  it("counts what it has no place for", () => {
    expect(result.leftOut).toEqual({ images: 1, tools: 2 });
  });
});

describe("readExport", () => {
  it("reads Ingle's own export, whole or not at all", () => {
    const archive = makeArchive([{ conversation: exampleConversation(), messages: [], images: {} }], [], []);
    expect(read(archive)).toMatchObject({ source: "Ingle", count: 1, leftOut: {} });
    expect(readExport(JSON.stringify({ ...archive, presets: [{}] }), now)).toBeUndefined();
  });

  it("reads the other conversations if one is damaged or empty", () => {
    const damaged = { title: "Damaged", mapping: { a: { message: 1, parent: {} } } };
    const empty = { title: "Empty", mapping: { root: { message: null, parent: null, children: [] } } };
    const { chats } = read([damaged, chatGptConversation(1), empty]);
    expect(chats.map((chat) => chat?.conversation.title)).toEqual([undefined, "Piers 1", undefined]);
  });

  it.each([
    ["no JSON", "nothing"],
    ["an unknown object", '{"format":"other"}'],
    ["an empty list", "[]"],
    ["a list of numbers", "[1,2]"],
    ["null", "null"],
  ])("rejects %s", (_what, text) => {
    expect(readExport(text, now)).toBeUndefined();
  });

  it("reads a chat of 20,000 messages below each other, and one with a circle", () => {
    const message = (role: string, text: string) => ({
      author: { role },
      content: { content_type: "text", parts: [text] },
    });
    const long = Object.fromEntries(
      Array.from({ length: 20_000 }, (_nothing, at) => [
        `n${at}`,
        {
          parent: at === 0 ? null : `n${at - 1}`,
          children: [`n${at + 1}`],
          message: message(at % 2 === 0 ? "user" : "assistant", `${at}`),
        },
      ]),
    );
    const chat = only(read([{ title: "Long", mapping: long, current_node: "n19999" }]).chats);
    expect(linearPath(toTree(chat))).toHaveLength(20_000);
    const circle = {
      a: { parent: "b", message: message("user", "a") },
      b: { parent: "a", message: message("assistant", "b") },
      c: { parent: null, message: message("user", "c") },
    };
    const result = read([{ title: "Circle", mapping: circle, current_node: "a" }]);
    expect(messageTexts(only(result.chats).messages)).toEqual(["c"]);
    expect(result.leftOut).toEqual({ others: 2 });
  });
});
