// What a person asks of the models: to answer a message, to try again, to go on, to answer an edited question.
import { imageUrl } from "@ingle/client";
import { batch } from "@preact/signals";

import { beginConversation, changeConversation } from "../chats/chat-changes.ts";
import { attachmentsOf } from "../chats/chat-storage.ts";
import {
  chatStorage,
  conversations,
  openChat,
  openConversation,
  openPath,
  showMessages,
} from "../chats/chat-store.ts";
import {
  newId,
  type Attachment,
  type Conversation,
  type KeptFile,
  type Message,
  type Reply,
  type ReplyMessage,
  type UserMessage,
} from "../chats/conversation.ts";
import { addMessages } from "../chats/message-changes.ts";
import { makeTree, pathTo, type MessageTree } from "../chats/message-tree.ts";
import { titleOf } from "../chats/title.ts";
import { keepUnsaved } from "../chats/unsaved-replies.ts";
import { announce } from "../design/announcer.tsx";
import { showError } from "../design/toast.tsx";
import { errorWords } from "../strings/error-words.ts";
import { strings } from "../strings/strings.ts";
import { toChatBody } from "./chat-request.ts";
import { liveReplies } from "./live-replies.ts";
import { beginReplies, endLive, writeReplies, type BegunReplies } from "./reply-writer.ts";

/** What a person has written, with the bytes of its images by their ids. */
export interface Question {
  text: string;
  attachments: readonly Attachment[];
  images: ReadonlyMap<string, Blob>;
}

/**
 * Sends a message at the end of the open path, or as the first one of a new conversation. Resolves with the conversation
 * once the message is kept; the replies come by themselves.
 */
export async function sendMessage(question: Question): Promise<Conversation> {
  const said = titleOf(question.text);
  const title = said === "" ? (question.attachments[0]?.name ?? "") : said;
  const open = openChat.value === null ? undefined : conversationOf(openChat.value.id);
  const conversation = open ?? (await beginConversation(title));
  if (open === undefined) await openConversation(conversation.id);
  await askBelow(conversation, openPath.value.at(-1)?.id ?? null, question);
  return conversation;
}

/** Asks an edited question beside the old one, which stays with its answers. Its attachments stay the same. */
export async function editMessage(message: UserMessage, text: string): Promise<void> {
  const conversation = conversationOf(message.conversationId);
  if (conversation === undefined) return;
  const storage = await chatStorage();
  // Each message owns its files, so that removing one branch takes nothing from another.
  const copies = await Promise.all(
    message.attachments.map(async (attachment) => ({
      attachment: { ...attachment, id: newId() },
      data: attachment.kind === "image" ? await storage.file(attachment.id) : undefined,
    })),
  );
  const images = new Map(
    copies.flatMap(({ attachment, data }) => (data === undefined ? [] : [[attachment.id, data] as const])),
  );
  const attachments = copies.map(({ attachment }) => attachment);
  await askBelow(conversation, message.parentId, { text, attachments, images });
}

/** Lets the same question be answered again, beside the answers that are there; by another model where one is named. */
export async function retryReply(message: ReplyMessage, model = message.reply.model): Promise<void> {
  const conversation = conversationOf(message.conversationId);
  if (conversation !== undefined && message.parentId !== null)
    await answer(conversation, message.parentId, [model], 1);
}

/** Goes on with a reply that was cut, in its place. One without any text is written anew. */
export async function continueReply(message: ReplyMessage): Promise<void> {
  const conversation = conversationOf(message.conversationId);
  if (conversation === undefined || openChat.value === null || liveReplies.value.has(message.id)) return;
  const path = pathTo(openChat.value.tree, message.id);
  const isContinuation = message.text !== "";
  const reply = isContinuation ? message.reply : { ...message.reply, thinking: "", thinkingMs: null };
  const begun: ReplyMessage = { ...message, reply: { ...reply, status: "writing", error: null } };
  const replies = beginReplies([begun]);
  showMessages(conversation.id, [begun]);
  await run(conversation, isContinuation ? path : path.slice(0, -1), replies, isContinuation);
}

/** Ends those of the replies that this page writes. */
export function stopReplies(messages: readonly { id: string }[]): void {
  for (const { id } of messages) liveReplies.value.get(id)?.stop();
}

async function askBelow(
  conversation: Conversation,
  parentId: string | null,
  question: Question,
): Promise<void> {
  const message: UserMessage = {
    role: "user",
    id: newId(),
    conversationId: conversation.id,
    parentId,
    createdAt: Date.now(),
    text: question.text,
    attachments: [...question.attachments],
  };
  const files = [...question.images].map(([id, data]): KeptFile => ({
    id,
    conversationId: conversation.id,
    data,
  }));
  await addMessages(conversation.id, [message], files);
  await answer(conversation, message.id, conversation.models, conversation.answers);
}

/** Begins the replies of all models to a message, side by side. They come by themselves from here on. */
async function answer(
  conversation: Conversation,
  parentId: string,
  models: readonly string[],
  answers: number,
) {
  const round = newId();
  const now = Date.now();
  const sets = models.map((model) =>
    Array.from({ length: answers }, () => emptyReply(conversation.id, parentId, model, round)),
  );
  // Messages are kept in the order of their times.
  const replies = sets.flat().map((reply, at) => ({ ...reply, createdAt: now + at }));
  const begun = models.map((model) => beginReplies(replies.filter(({ reply }) => reply.model === model)));
  try {
    await addMessages(conversation.id, replies);
    await changeConversation(conversation.id, (before) => ({ ...before, updatedAt: now }));
    const path = pathTo(await treeOf(conversation.id), parentId);
    const latest = conversationOf(conversation.id) ?? conversation;
    for (const own of begun) void run(latest, path, own, false);
  } catch (error) {
    endLive(replies);
    throw error;
  }
}

/** The messages of a conversation, which another one may have taken the place of on the page. */
async function treeOf(conversationId: string): Promise<MessageTree<Message>> {
  const chat = openChat.value;
  if (chat?.id === conversationId) return chat.tree;
  return makeTree(await (await chatStorage()).messagesOf(conversationId));
}

/** Writes replies of one model to their end. */
async function run(
  conversation: Conversation,
  path: readonly Message[],
  begun: BegunReplies,
  isContinuation: boolean,
): Promise<void> {
  const { messages } = begun;
  const model = messages[0]?.reply.model ?? "";
  const { settings } = conversation;
  const storage = await chatStorage();
  const written = await writeReplies(begun, {
    body: async () => {
      const images = await imagesOf(path);
      return toChatBody({ model, path, settings, answers: messages.length, isContinuation, images });
    },
    save: (replies) => storage.saveReplies(replies),
    keep: keepIfPossible,
  });
  batch(() => {
    showMessages(conversation.id, written.messages);
    endLive(messages);
  });
  if (written.saveError !== undefined) showError(written.saveError);
  for (const message of written.messages) announceEnd(message);
}

function keepIfPossible(replies: readonly ReplyMessage[]): void {
  try {
    keepUnsaved(localStorage, replies);
  } catch {
    // localStorage is full: what the database has of the replies is what stays.
  }
}

/** For those who do not see that an answer has ended; the answer itself is theirs to read. */
function announceEnd({ reply }: ReplyMessage): void {
  const text = strings.value.chat;
  if (reply.status === "failed")
    announce(text.answerFailed(reply.error === null ? text.failed : errorWords(reply.error).text));
  else if (reply.status === "stopped") announce(text.answerStopped);
  else announce(text.answerReady(reply.model));
}

async function imagesOf(path: readonly Message[]): Promise<Map<string, string>> {
  const storage = await chatStorage();
  const images = path.flatMap(attachmentsOf).filter(({ kind }) => kind === "image");
  const urls = new Map<string, string>();
  for (const { id } of images) {
    const data = await storage.file(id);
    if (data !== undefined) urls.set(id, await imageUrl(data));
  }
  return urls;
}

function emptyReply(conversationId: string, parentId: string, model: string, round: string): ReplyMessage {
  const reply: Reply = {
    model,
    round,
    thinking: "",
    thinkingMs: null,
    status: "writing",
    finish: null,
    error: null,
    figures: null,
  };
  return { role: "assistant", id: newId(), conversationId, parentId, createdAt: 0, text: "", reply };
}

function conversationOf(id: string): Conversation | undefined {
  return conversations.value.find((conversation) => conversation.id === id);
}
