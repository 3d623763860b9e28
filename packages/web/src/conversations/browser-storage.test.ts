// Two tabs share one database, which fake-indexeddb provides.
import * as browserDatabase from "fake-indexeddb";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { exampleConversation, exampleReplyMessage } from "../../test/examples.ts";
import { BrowserStorage, type ChatDatabase, openDatabase } from "./browser-storage.ts";
import { vectorsId } from "./chat-storage.ts";
import type { Message } from "./conversation.ts";
import { joinTabs, tabChannel, type Change } from "./other-tabs.ts";

// idb looks up the browser's classes by name.
Object.assign(globalThis, browserDatabase);

const conversation = exampleConversation();

const question: Message = {
  role: "user",
  id: "q",
  conversationId: "c",
  parentId: null,
  createdAt: 2,
  text: "How long?",
  attachments: [{ kind: "image", id: "f", name: "a.png", type: "image/png", bytes: 3 }],
};

const reply = exampleReplyMessage({}, { status: "writing", finish: null });

const file = { id: "f", conversationId: "c", data: new Blob(["png"]) };

let databases: ChatDatabase[];
let changes: Change[];
let one: BrowserStorage;
let other: BrowserStorage;
let count = 0;

beforeEach(async () => {
  count += 1;
  changes = [];
  databases = await Promise.all([1, 2].map(() => openDatabase(`test-${count}`, () => {})));
  one = new BrowserStorage(databases[0]!, (change) => changes.push(change));
  other = new BrowserStorage(databases[1]!, () => {});
});

afterEach(() => {
  for (const database of databases) database.close();
});

describe("two tabs that change the same conversation", () => {
  it("keep the changes of both", async () => {
    await one.addConversation(conversation);
    await Promise.all([
      one.changeConversation("c", (before) => ({ ...before, title: "Rye" })),
      other.changeConversation("c", (before) => ({ ...before, folderId: "baking" })),
      one.changeConversation("c", (before) => ({ ...before, answers: before.answers + 1 })),
      other.changeConversation("c", (before) => ({ ...before, answers: before.answers + 1 })),
    ]);
    expect(await one.conversation("c")).toMatchObject({ title: "Rye", folderId: "baking", answers: 3 });
  });

  it("keep the messages that both add", async () => {
    await one.addConversation(conversation);
    await Promise.all([
      one.addMessages("c", [question], [file]),
      other.addMessages("c", [{ ...question, id: "q2", createdAt: 1, attachments: [] }]),
    ]);
    expect((await other.readMessages("c")).map(({ id }) => id)).toEqual(["q2", "q"]);
    expect(await other.file("f")).toBeDefined();
  });

  it("do not restore what the other has removed", async () => {
    await one.addConversation(conversation, [question, reply]);
    await other.removeMessages("c", [reply]);
    await one.saveMessages([{ ...reply, text: "An hour" }]);
    expect((await one.readMessages("c")).map(({ id }) => id)).toEqual(["q"]);
    await other.purge("c");
    await one.addMessages("c", [reply]);
    expect(await one.readMessages("c")).toEqual([]);
    expect(await one.changeConversation("c", (before) => before)).toBeUndefined();
  });
});

describe("ChatStorage", () => {
  it("saves the progress of a reply", async () => {
    await one.addConversation(conversation, [question, reply]);
    await one.saveMessages([{ ...reply, text: "An hour" }]);
    expect((await other.message("a"))?.text).toBe("An hour");
  });

  it("removes images with their messages", async () => {
    await one.addConversation(conversation, [question], [file]);
    await one.removeMessages("c", [question]);
    expect(await one.file("f")).toBeUndefined();
  });

  it("removes what is kept of a document with its message", async () => {
    const document = { id: "d", kind: "text" as const, name: "a.txt", bytes: 1, text: "a" };
    await one.addConversation(conversation, [{ ...question, attachments: [document] }]);
    await one.addMessages("c", [], [{ ...file, id: vectorsId("d") }]);
    expect(await other.file(vectorsId("d"))).toBeDefined();
    await one.removeMessages("c", await one.readMessages("c"));
    expect(await other.file(vectorsId("d"))).toBeUndefined();
  });

  it("purges a conversation with its messages and files, and nothing else", async () => {
    await one.addConversation(conversation, [question, reply], [file]);
    await one.addConversation({ ...conversation, id: "d" }, [{ ...question, id: "dq", conversationId: "d" }]);
    await one.purge("c");
    expect((await one.all()).conversations.map(({ id }) => id)).toEqual(["d"]);
    expect(await one.readMessages("c")).toEqual([]);
    expect(await one.readFiles("c")).toEqual([]);
    expect(await one.readMessages("d")).toHaveLength(1);
  });

  it("keeps the conversations of a removed folder", async () => {
    await one.putFolder({ id: "baking", name: "Baking", createdAt: 0 });
    await one.addConversation({ ...conversation, folderId: "baking" });
    await one.removeFolder("baking");
    expect(await one.all()).toMatchObject({ folders: [], conversations: [{ id: "c", folderId: null }] });
  });

  it("announces its changes", async () => {
    await one.addConversation(conversation);
    await one.addMessages("c", [question]);
    await one.changeConversation("gone", (before) => before);
    expect(changes).toEqual([
      { kind: "conversation", id: "c" },
      { kind: "messages", conversationId: "c", ids: ["q"] },
    ]);
  });
});

describe("joinTabs", () => {
  it("announces changes to other tabs, and asks them who is writing a reply", async () => {
    const heard: Change[] = [];
    const first = joinTabs({ channel: tabChannel("tabs-test"), onChange: () => {}, isWriting: () => false });
    const second = joinTabs({
      channel: tabChannel("tabs-test"),
      onChange: (change) => heard.push(change),
      isWriting: (id) => id === "a",
    });
    first.announce({ kind: "folders" });
    expect(await first.isWrittenElsewhere("a")).toBe(true);
    expect(await first.isWrittenElsewhere("b")).toBe(false);
    expect(heard).toEqual([{ kind: "folders" }]);
    first.close();
    second.close();
  });
});
