import { describe, expect, it } from "vitest";

import { makeArchive, readArchive, withNewIds, type ArchivedChat } from "./chat-archive.ts";
import { emptySettings } from "./conversation.ts";
import { linearPath, makeTree } from "./message-tree.ts";

const chat: ArchivedChat = {
  conversation: {
    id: "c",
    title: "Bread",
    isNamed: true,
    folderId: "baking",
    createdAt: 1,
    updatedAt: 2,
    deletedAt: null,
    chosen: { "": "q", q: "a1" },
    models: ["m"],
    answers: 2,
    settings: { ...emptySettings, temperature: 0, effort: "low" },
  },
  messages: [
    {
      role: "user",
      id: "q",
      conversationId: "c",
      parentId: null,
      createdAt: 3,
      text: "?",
      attachments: [{ kind: "image", id: "f", name: "a.png", type: "image/png", bytes: 3 }],
    },
    ...["a1", "a2"].map((id, at) => ({
      role: "assistant" as const,
      id,
      conversationId: "c",
      parentId: "q",
      createdAt: 4 + at,
      text: "!",
      reply: {
        model: "m",
        round: "r",
        thinking: "",
        thinkingMs: null,
        status: "done" as const,
        finish: "stop" as const,
        error: null,
        figures: null,
      },
    })),
  ],
  images: { f: "data:image/png;base64,AA==" },
};

const archive = makeArchive([chat], [{ id: "baking", name: "Baking", createdAt: 0 }], []);
const text = JSON.stringify(archive);

describe("readArchive", () => {
  it("reads what makeArchive made", () => {
    expect(readArchive(text)).toEqual(archive);
  });

  it.each([
    ["no JSON", "nothing"],
    ["another format", text.replace("ingle-chats", "other-chats")],
    ["a newer version", text.replace('"version":1', '"version":2')],
    ["a text where a number must be", text.replace('"createdAt":3', '"createdAt":"3"')],
    ["a role that there is not", text.replace('"role":"user"', '"role":"tool"')],
    ["a setting that there is not", text.replace('"effort":"low"', '"effort":"giant"')],
    ["a list where an object must be", text.replace(/"chosen":\{[^}]*\}/, '"chosen":[]')],
    ["a part that is missing", text.replace('"presets":[]', '"more":[]')],
  ])("refuses %s", (_what, wrong) => {
    expect(wrong).not.toBe(text);
    expect(readArchive(wrong)).toBeUndefined();
  });
});

describe("withNewIds", () => {
  it("keeps the tree and its images under other ids", () => {
    const { conversation, messages, images } = withNewIds(chat);
    expect(conversation.id).not.toBe("c");
    const ids = new Set(messages.map(({ id }) => id));
    expect([...ids].some((id) => ["q", "a1", "a2"].includes(id))).toBe(false);
    expect(linearPath(makeTree(messages, conversation.chosen)).map(({ createdAt }) => createdAt)).toEqual([
      3, 4,
    ]);
    const [first] = messages;
    expect(first?.role === "user" && Object.keys(images)).toEqual(
      first?.role === "user" && first.attachments.map(({ id }) => id),
    );
    expect(messages.every(({ conversationId }) => conversationId === conversation.id)).toBe(true);
  });
});
