import { describe, expect, it } from "vitest";

import { exampleReplyMessage } from "../../test/examples.ts";
import { emptySettings } from "../conversations/settings-fields.ts";
import type { Attachment, Message } from "../conversations/conversation.ts";
import { fileText, toChatBody, type ChatRequest } from "./chat-request.ts";

const place = { conversationId: "c", parentId: null, createdAt: 0 };
const user = (text: string, attachments: Attachment[] = []): Message => ({
  role: "user",
  id: text,
  ...place,
  text,
  attachments,
});
const assistant = (text: string, thinking = "") => exampleReplyMessage({ text }, { thinking });

const body = (request: Partial<ChatRequest>) =>
  toChatBody({
    model: "m",
    path: [user("hello")],
    settings: emptySettings,
    answers: 1,
    isContinuation: false,
    images: new Map(),
    tools: [],
    mayCall: true,
    ...request,
  });

describe("toChatBody", () => {
  it("omits settings that are null", () => {
    expect(body({})).toEqual({
      model: "m",
      messages: [{ role: "user", content: "hello" }],
      timings_per_token: true,
    });
  });

  it("sends zeros", () => {
    const settings = { ...emptySettings, temperature: 0, topK: 0, minP: 0 };
    expect(body({ settings })).toMatchObject({ temperature: 0, top_k: 0, min_p: 0 });
  });

  it("sends every setting by its wire name", () => {
    const settings = {
      systemPrompt: " Be brief. ",
      temperature: 0.3,
      topP: 0.9,
      topK: 50,
      minP: 0.15,
      repeatPenalty: 1.05,
      maxTokens: 64,
      effort: "high" as const,
      seed: 0,
      xtcProbability: 0.5,
      xtcThreshold: 0.2,
      dryMultiplier: 0.8,
      dryBase: 2,
      dryAllowedLength: 0,
      dryPenaltyLastN: -1,
      stop: "END\n\n\\n# \\\\n\n",
      jsonSchema: '{"type":"object"}',
    };
    expect(body({ settings, answers: 3 })).toEqual({
      model: "m",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "hello" },
      ],
      temperature: 0.3,
      top_p: 0.9,
      top_k: 50,
      min_p: 0.15,
      repeat_penalty: 1.05,
      max_tokens: 64,
      seed: 0,
      xtc_probability: 0.5,
      xtc_threshold: 0.2,
      dry_multiplier: 0.8,
      dry_base: 2,
      dry_allowed_length: 0,
      dry_penalty_last_n: -1,
      stop: ["END", "\n# \\n"],
      response_format: {
        type: "json_schema",
        json_schema: { name: "answer", strict: true, schema: { type: "object" } },
      },
      reasoning_effort: "high",
      n: 3,
      timings_per_token: true,
    });
  });

  it("continues the last reply", () => {
    const { messages, continue_final_message } = body({
      path: [user("count"), assistant("1, 2", "easy")],
      isContinuation: true,
    });
    expect(continue_final_message).toBe(true);
    expect(messages.at(-1)).toEqual({ role: "assistant", content: "1, 2", reasoning_content: "easy" });
  });

  it("sends the calls of earlier steps with their results, then the text", () => {
    const call = { id: "1", name: "read", arguments: "{}", place: null, status: "done" as const };
    const image = { type: "image_url" as const, image_url: { url: "data:image/png;base64,AA==" } };
    const text = { type: "text" as const, text: "Milk." };
    const steps = [
      { text: "Let me look.", thinking: "hm", calls: [{ ...call, content: [text] }] },
      {
        text: "",
        thinking: "",
        calls: [
          { ...call, id: "2", content: [text, image] },
          { ...call, id: "3", content: [] },
        ],
      },
    ];
    const asked = (id: string) => ({ id, type: "function", function: { name: "read", arguments: "{}" } });
    const before = [
      { role: "user", content: "hello" },
      { role: "assistant", content: "Let me look.", reasoning_content: "hm", tool_calls: [asked("1")] },
      { role: "tool", tool_call_id: "1", name: "read", content: "Milk." },
      { role: "assistant", content: "", tool_calls: [asked("2"), asked("3")] },
      { role: "tool", tool_call_id: "2", name: "read", content: [text, image] },
      {
        role: "tool",
        tool_call_id: "3",
        name: "read",
        content: "Error: This call was stopped before it returned a result.",
      },
    ];
    const withSteps = (written: string) => exampleReplyMessage({ text: written }, { steps });
    expect(body({ path: [user("hello"), withSteps("")] }).messages).toEqual(before);
    expect(body({ path: [user("hello"), withSteps("Buy milk.")] }).messages).toEqual([
      ...before,
      { role: "assistant", content: "Buy milk." },
    ]);
  });

  it("sends the tools, and forbids calls after the last round", () => {
    const tools = [{ type: "function" as const, function: { name: "read" } }];
    expect(body({ tools })).toMatchObject({ tools });
    expect(body({ tools })).not.toHaveProperty("tool_choice");
    expect(body({ tools, mayCall: false })).toMatchObject({ tools, tool_choice: "none" });
    expect(body({ mayCall: false })).not.toHaveProperty("tool_choice");
  });

  it("puts images before the text, and omits missing ones", () => {
    const image = (id: string): Attachment => ({
      kind: "image",
      id,
      name: "a.png",
      type: "image/png",
      bytes: 1,
    });
    const path = [user("what is it?", [image("here"), image("gone")])];
    expect(body({ path, images: new Map([["here", "data:image/png;base64,AA=="]]) }).messages).toEqual([
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
          { type: "text", text: "what is it?" },
        ],
      },
    ]);
  });

  it("puts files before the text, with their names", () => {
    const file: Attachment = { kind: "text", id: "f", name: "notes.md", bytes: 4, text: "Rain.\n" };
    expect(body({ path: [user("summarize", [file])] }).messages).toEqual([
      { role: "user", content: "File notes.md:\n```\nRain.\n```\n\nsummarize" },
    ]);
  });

  it("sends passages of a document that is searched instead of the whole, before the question", () => {
    const text = "one\ntwo\nthree";
    const document: Attachment = { kind: "text", id: "d", name: "log.txt", bytes: 9, text, isSearched: true };
    const log = { name: "log.txt", unit: "line" as const, of: 3 };
    const passages = [
      { ...log, first: 1, last: 2, text: "one\ntwo" },
      { ...log, first: 3, last: 3, text: "three" },
    ];
    const found = { passages, tokens: 9, embedder: null };
    const asked: Message = { role: "user", id: "q", ...place, text: "Why?", attachments: [document], found };
    expect(body({ path: [asked] }).messages).toEqual([
      {
        role: "user",
        content: [
          "These passages of longer files belong to the question:",
          "File log.txt, lines 1 to 2 of 3:\n```\none\ntwo\n```",
          "File log.txt, line 3 of 3:\n```\nthree\n```",
          "Why?",
        ].join("\n\n"),
      },
    ]);
  });
});

describe("fileText", () => {
  it("uses a longer fence than any in the text", () => {
    expect(fileText("a.md", "````\nx\n````")).toBe("File a.md:\n`````\n````\nx\n````\n`````");
  });

  it("separates pages as paragraphs", () => {
    expect(fileText("a.pdf", "one\f\ftwo\n\fthree")).toBe("File a.pdf:\n```\none\n\ntwo\n\nthree\n```");
  });
});
