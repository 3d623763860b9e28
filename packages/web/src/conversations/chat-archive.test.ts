import { describe, expect, it } from "vitest";

import { exampleConversation, exampleReplyMessage } from "../../test/examples.ts";
import { emptySettings } from "./settings-fields.ts";
import { makeArchive, withNewIds } from "./chat-archive.ts";
import { readArchive, type ArchivedChat } from "./conversation.ts";
import { linearPath, makeTree } from "./message-tree.ts";

const chat: ArchivedChat = {
  conversation: exampleConversation({
    folderId: "baking",
    chosen: { "": "q", q: "a1" },
    answers: 2,
    settings: { ...emptySettings, temperature: 0, effort: "low" },
  }),
  messages: [
    {
      role: "user",
      id: "q",
      conversationId: "c",
      parentId: null,
      createdAt: 3,
      text: "?",
      attachments: [
        { kind: "image", id: "f", name: "a.png", type: "image/png", bytes: 3 },
        { kind: "text", id: "d", name: "log.txt", bytes: 7, text: "one\ntwo", isSearched: true },
      ],
      found: {
        passages: [{ name: "log.txt", unit: "line", first: 2, last: 2, of: 2, text: "two" }],
        tokens: 9,
        embedder: null,
        problem: { code: "out_of_memory", message: "There is not enough memory." },
      },
    },
    ...["a1", "a2"].map((id, at) => exampleReplyMessage({ id, text: "!", createdAt: 4 + at })),
  ],
  images: { f: "data:image/png;base64,AA==" },
};

const archive = makeArchive([chat], [{ id: "baking", name: "Baking", createdAt: 0 }], []);
const text = JSON.stringify(archive);

describe("readArchive", () => {
  it("reads what makeArchive writes", () => {
    expect(readArchive(JSON.parse(text))).toEqual(archive);
  });

  it.each([
    ["another format", text.replace("ingle-chats", "other-chats")],
    ["a newer version", text.replace('"version":1', '"version":2')],
    ["text in place of a number", text.replace('"createdAt":3', '"createdAt":"3"')],
    ["an unknown role", text.replace('"role":"user"', '"role":"tool"')],
    ["an unknown setting", text.replace('"effort":"low"', '"effort":"giant"')],
    ["a list in place of an object", text.replace(/"chosen":\{[^}]*\}/, '"chosen":[]')],
    ["a missing part", text.replace('"presets":[]', '"more":[]')],
  ])("rejects %s", (_what, wrong) => {
    expect(wrong).not.toBe(text);
    expect(readArchive(JSON.parse(wrong))).toBeUndefined();
  });
});

describe("withNewIds", () => {
  it("turns no tools on", () => {
    const conversation = exampleConversation({ toolServers: ["files"] });
    expect(withNewIds({ ...chat, conversation }).conversation).not.toHaveProperty("toolServers");
  });

  it("keeps the tree and its images under new ids", () => {
    const { conversation, messages, images } = withNewIds(chat);
    expect(conversation.id).not.toBe("c");
    const ids = new Set(messages.map(({ id }) => id));
    expect([...ids].some((id) => ["q", "a1", "a2"].includes(id))).toBe(false);
    expect(linearPath(makeTree(messages, conversation.chosen)).map(({ createdAt }) => createdAt)).toEqual([
      3, 4,
    ]);
    const [first] = messages;
    expect(first?.role === "user" && Object.keys(images)).toEqual(
      first?.role === "user" && first.attachments.flatMap(({ kind, id }) => (kind === "image" ? id : [])),
    );
    expect(first).toHaveProperty("found", chat.messages[0]?.role === "user" && chat.messages[0].found);
    expect(messages.every(({ conversationId }) => conversationId === conversation.id)).toBe(true);
  });
});
