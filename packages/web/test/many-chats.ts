// An export with as many conversations as a user has after years.
import { makeArchive } from "../src/conversations/chat-archive.ts";
import type { ArchivedChat, ChatArchive, Message } from "../src/conversations/conversation.ts";
import { exampleConversation, exampleReplyMessage } from "./examples.ts";

/** `Conversation 0` is the newest; each next one is an hour older and has its number in its question and reply. */
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
    exampleReplyMessage(
      {
        ...place,
        id: `${id}-a`,
        parentId: `${id}-q`,
        text: `The answer holds the word number${number}word and more.`,
      },
      { model: "tiny" },
    ),
  ];
  const conversation = exampleConversation({
    id,
    title: `Conversation ${number}`,
    createdAt: at,
    updatedAt: at,
    chosen: { "": `${id}-q`, [`${id}-q`]: `${id}-a` },
    models: ["tiny"],
  });
  return { conversation, messages, images: {} };
}
