// Requests replies: to a new or an edited message, once more, or as a continuation.
import { ApiError, ConnectionError, imageUrl } from "@ingle/client";
import { batch } from "@preact/signals";

import {
  addMessages,
  beginConversation,
  changeConversation,
  chooseMessage,
  pruneBranch,
} from "../conversations/chat-changes.ts";
import { messageAttachments, textDocuments, attachmentFileId, newId } from "../conversations/chat-storage.ts";
import {
  chatStorage,
  conversations,
  openChat,
  openConversation,
  openPath,
  showMessages,
} from "../conversations/chat-store.ts";
import type {
  Attachment,
  Conversation,
  Message,
  Reply,
  ReplyMessage,
  StoredFile,
  ToolStep,
  UserMessage,
} from "../conversations/conversation.ts";
import { offeredTools, refreshToolServers } from "./tool-servers.ts";
import { beginCall, runCalls } from "./run-calls.ts";
import { toTitle } from "../conversations/conversation-text.ts";
import { makeTree, pathTo, type MessageTree } from "../conversations/message-tree.ts";
import { storeUnsaved } from "../conversations/unsaved-replies.ts";
import { announce, showError } from "../design/toast.tsx";
import { storedErrorMessage } from "../strings/error-message.ts";
import { chatText } from "../strings/chat.ts";
import { type StreamedChatBody, toChatBody } from "./chat-request.ts";
import type { PassagesOptions } from "./question-passages.ts";
import { countRequest, readContextLength } from "./request-size.ts";
import { countLeftOut } from "./rolling-context.ts";
import { beginReplies, type BegunReplies, endLiveReplies, writeReplies } from "./reply-writer.ts";
import { type ReadingProgress, liveReplies } from "../conversations/live-replies.ts";

/** A message of the user; the bytes of its images, and what was computed of its documents, are keyed by file id. */
interface Question {
  text: string;
  attachments: readonly Attachment[];
  files: ReadonlyMap<string, Blob>;
}

/**
 * Sends a message at the end of the open path, or as the first one of a new conversation. Resolves with the conversation once the
 * message is stored; the replies are streamed in the background.
 */
export async function sendMessage(question: Question): Promise<Conversation> {
  const line = toTitle(question.text);
  const title = line === "" ? (question.attachments[0]?.name ?? "") : line;
  const open = openChat.value === null ? undefined : findConversation(openChat.value.id);
  const conversation = open ?? (await beginConversation(title));
  if (open === undefined) await openConversation(conversation.id);
  await askBelow(conversation, openPath.value.at(-1)?.id ?? null, question);
  return conversation;
}

/** Sends an edited message with the same attachments. The old one stays as a sibling. */
export async function editMessage(message: UserMessage, text: string): Promise<void> {
  const conversation = findConversation(message.conversationId);
  if (conversation === undefined) return;
  const storage = await chatStorage();
  // Each message owns its files, so that deleting one branch does not affect another.
  const copies = await Promise.all(
    message.attachments.map(async (attachment) => ({
      attachment: { ...attachment, id: newId() },
      data: await storage.file(attachmentFileId(attachment)),
    })),
  );
  const files = new Map(
    copies.flatMap(({ attachment, data }) =>
      data === undefined ? [] : [[attachmentFileId(attachment), data] as const],
    ),
  );
  const attachments = copies.map(({ attachment }) => attachment);
  await askBelow(conversation, message.parentId, { text, attachments, files });
}

/** Requests another reply to the same message, by the same or another model. */
export async function retryReply(message: ReplyMessage, model: string): Promise<void> {
  const conversation = findConversation(message.conversationId);
  if (conversation !== undefined && message.parentId !== null)
    await requestReplies(conversation, message.parentId, [model], 1);
}

/** Continues an unfinished reply in place. A reply without text is requested again. */
export async function continueReply(message: ReplyMessage): Promise<void> {
  const conversation = findConversation(message.conversationId);
  if (conversation === undefined || openChat.value === null || liveReplies.value.has(message.id)) return;
  const path = pathTo(openChat.value.tree, message.id);
  const isContinuation = message.text !== "";
  const thoughts = isContinuation ? {} : { thinking: "", thinkingMs: null }; // what came before calls stays
  const begun: ReplyMessage = {
    ...message,
    reply: { ...message.reply, ...thoughts, status: "writing", error: null },
  };
  const replies = beginReplies([begun]);
  showMessages(conversation.id, [begun]);
  const asked = { conversation, path: path.slice(0, -1), models: [message.reply.model] };
  await run({ ...asked, begun: replies, isContinuation, prepare: prepareOnce(asked, [replies]) });
}

/** Adds a reply with the user's text beside the old one, which stays as a version. Resolves with a function that takes it back. */
export async function editReply(message: ReplyMessage, text: string): Promise<() => Promise<void>> {
  const { conversationId } = message;
  const reply: Reply = {
    ...message.reply,
    round: newId(),
    status: "done",
    finish: "stop",
    error: null,
    figures: null,
    isEdited: true,
  };
  const edited: ReplyMessage = { ...message, id: newId(), createdAt: Date.now(), text, reply };
  await addMessages(conversationId, [edited]);
  await changeConversation(conversationId, (before) => ({ ...before, updatedAt: edited.createdAt }));
  return async () => {
    await pruneBranch(conversationId, edited.id);
    await chooseMessage(conversationId, message.id);
  };
}

/** Stops those of the replies that this page is writing. */
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
  const files = [...question.files].map(([id, data]): StoredFile => ({
    id,
    conversationId: conversation.id,
    data,
  }));
  await addMessages(conversation.id, [message], files);
  await requestReplies(conversation, message.id, conversation.models, conversation.answers);
}

/** Begins the replies of all models to a message; they are streamed in the background. */
async function requestReplies(
  conversation: Conversation,
  parentId: string,
  models: readonly string[],
  repliesPerModel: number,
): Promise<void> {
  const round = newId();
  const now = Date.now();
  const sets = models.map((model) =>
    Array.from({ length: repliesPerModel }, () => emptyReply(conversation.id, parentId, model, round)),
  );
  // Messages are ordered by their times.
  const replies = sets.flat().map((message, at) => ({ ...message, createdAt: now + at }));
  const latest = findConversation(conversation.id) ?? conversation;
  // Each reply calls its own tools, so each has its own requests.
  const groups = usesTools(latest)
    ? replies.map((message) => [message])
    : models.map((model) => replies.filter((message) => message.reply.model === model));
  const begun = groups.map((group) => beginReplies(group));
  try {
    await addMessages(conversation.id, replies);
    await changeConversation(conversation.id, (before) => ({ ...before, updatedAt: now }));
    const path = pathTo(await readTree(conversation.id), parentId);
    const asked = { conversation: latest, path, models };
    const prepare = prepareOnce(asked, begun);
    for (const own of begun) void run({ ...asked, begun: own, isContinuation: false, prepare });
  } catch (error) {
    endLiveReplies(replies);
    throw error;
  }
}

/** The messages of a conversation, even if another one has been opened since. */
async function readTree(conversationId: string): Promise<MessageTree<Message>> {
  const chat = openChat.value;
  if (chat?.id === conversationId) return chat.tree;
  return makeTree(await (await chatStorage()).readMessages(conversationId));
}

/** Whether its replies may call tools. */
function usesTools({ toolServers = [] }: Conversation): boolean {
  return offeredTools(toolServers).tools.length > 0;
}

type ToBody = (sent: readonly Message[]) => StreamedChatBody;

type Asked = Pick<PassagesOptions, "conversation" | "path" | "models">;

/** Finds the passages of the question once for the replies of all models. All of them are stopped together. */
function prepareOnce(asked: Asked, begun: readonly BegunReplies[]) {
  let prepared: Promise<readonly Message[]> | undefined;
  const signal = AbortSignal.any(begun.map(({ controller }) => controller.signal));
  const onProgress = (progress: ReadingProgress | null) => {
    for (const { reading } of begun.flatMap(({ live }) => live)) reading.value = progress;
  };
  return (toBody: ToBody) => (prepared ??= preparedPath({ ...asked, toBody, onProgress, signal }));
}

/** A question that has its passages keeps them. */
async function preparedPath(options: PassagesOptions): Promise<readonly Message[]> {
  const { path } = options;
  const question = path.at(-1);
  const isOpen = question?.role === "user" && question.found === undefined && textDocuments(path).length > 0;
  return isOpen ? (await import("./question-passages.ts")).addPassages(options) : path;
}

interface RunOptions extends Pick<Asked, "conversation" | "path"> {
  begun: BegunReplies;
  isContinuation: boolean;
  prepare: ReturnType<typeof prepareOnce>;
}

/** Streams replies of one model to their end; the path ends above them. */
async function run({ conversation, path: asked, begun, isContinuation, prepare }: RunOptions): Promise<void> {
  const { messages } = begun;
  const [first] = messages;
  const model = first?.reply.model ?? "";
  const { settings, toolServers = [] } = conversation;
  const storage = await chatStorage();
  const servers = messages.length === 1 ? toolServers : [];
  let isContinued = isContinuation;
  let leftOut = 0;
  const written = await writeReplies(begun, {
    body: async (steps) => {
      if (servers.length > 0) await refreshToolServers();
      const { tools, rounds } = offeredTools(servers);
      const own = first === undefined ? [] : ownPart(first, steps, isContinued);
      const images = await readImages(asked);
      const toBody: ToBody = (sent) =>
        toChatBody({
          model,
          path: [...sent, ...own],
          settings,
          answers: messages.length,
          isContinuation: isContinued,
          tools,
          mayCall: steps.length < rounds,
          images,
        });
      const path = await prepare(toBody);
      if (settings.rolling === true) {
        const { maxTokens } = settings;
        leftOut = await rolledCut({ path, model, maxTokens, toBody, signal: begun.controller.signal });
      }
      const body = toBody(path.slice(leftOut));
      isContinued = false;
      return body;
    },
    leftOut: () => leftOut,
    tools: { begin: (call) => beginCall(call, servers), run: runCalls(model) },
    save: (replies) => storage.saveMessages(replies),
    storeUnsaved: tryStoreUnsaved,
  });
  batch(() => {
    showMessages(conversation.id, written.messages);
    endLiveReplies(messages);
  });
  // Without a server, the banner says so; the reply is saved when it is back.
  if (written.saveError !== undefined && !ConnectionError.is(written.saveError)) showError(written.saveError);
  for (const message of written.messages) announceEnd(message);
}

interface RolledCutOptions {
  path: readonly Message[];
  model: string;
  maxTokens: number | null;
  toBody: ToBody;
  signal: AbortSignal;
}

/** How many of the first messages of a path to leave out of its request, so that it fits the context. */
async function rolledCut({ path, model, maxTokens, toBody, signal }: RolledCutOptions): Promise<number> {
  const count = (sent: readonly Message[]) => countRequest(toBody(sent), signal);
  try {
    const contextLength = await readContextLength(model, signal);
    return contextLength === null ? 0 : await countLeftOut({ path, count, contextLength, maxTokens });
  } catch (error) {
    // The request itself will fail with the same reason, or shows that the server counts nothing.
    if (ApiError.is(error)) return 0;
    throw error;
  }
}

/** What the request has of the reply itself: its steps so far, and its text if it is continued. */
function ownPart(message: ReplyMessage, steps: readonly ToolStep[], isContinued: boolean): ReplyMessage[] {
  const { reply } = message;
  if (isContinued) return [message];
  return steps.length === 0
    ? []
    : [{ ...message, text: "", reply: { ...reply, thinking: "", steps: [...steps] } }];
}

function tryStoreUnsaved(replies: readonly ReplyMessage[]): void {
  try {
    storeUnsaved(localStorage, replies);
  } catch {
    // localStorage is full: the last state in the database remains.
  }
}

/** Tells screen readers that a reply has ended. */
function announceEnd({ reply }: ReplyMessage): void {
  if (reply.status === "failed")
    announce(
      chatText.answerFailed(reply.error === null ? chatText.failed : storedErrorMessage(reply.error).text),
    );
  else if (reply.status === "stopped") announce(chatText.answerStopped);
  else announce(chatText.answerReady(reply.model));
}

async function readImages(path: readonly Message[]): Promise<Map<string, string>> {
  const storage = await chatStorage();
  const images = path.flatMap(messageAttachments).filter(({ kind }) => kind === "image");
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

function findConversation(id: string): Conversation | undefined {
  return conversations.value.find((conversation) => conversation.id === id);
}
