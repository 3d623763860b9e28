// As many conversations as a person has after years, as an export that the page imports.
import { makeArchive, type ArchivedChat, type ChatArchive } from "../src/chats/chat-archive.ts";
import { emptySettings, type Conversation, type Message } from "../src/chats/conversation.ts";

/** `Conversation 0` is the newest of them; each next one is an hour older, with its number in its question and its answer. */
export function manyChats(count: number): ChatArchive {
  return makeArchive(
    Array.from({ length: count }, (_nothing, number) => archived(number)),
    [],
    [],
  );
}

function archived(number: number): ArchivedChat {
  const at = Date.now() - number * 3_600_000;
  const id = `chat-${number}`;
  const place = { conversationId: id, createdAt: at };
  const messages: Message[] = [
    { ...place, role: "user", id: `${id}-q`, parentId: null, text: `Question ${number}`, attachments: [] },
    {
      ...place,
      role: "assistant",
      id: `${id}-a`,
      parentId: `${id}-q`,
      text: `The answer holds the word number${number}word and more.`,
      reply: {
        model: "tiny",
        round: `${id}-r`,
        thinking: "",
        thinkingMs: null,
        status: "done",
        finish: "stop",
        error: null,
        figures: null,
      },
    },
  ];
  const conversation: Conversation = {
    id,
    title: `Conversation ${number}`,
    isNamed: true,
    folderId: null,
    createdAt: at,
    updatedAt: at,
    deletedAt: null,
    chosen: { "": `${id}-q`, [`${id}-q`]: `${id}-a` },
    models: ["tiny"],
    answers: 1,
    settings: emptySettings,
  };
  return { conversation, messages, images: {} };
}
