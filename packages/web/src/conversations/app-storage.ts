// Chats that the app keeps: the same for every browser, address and start. A change that depends on the current state is sent with the
// revision that it is based on, and made again if another page was faster.
import type { Chats } from "@ingle/client";
import type { ChatChange, ChatChangesResult, ChatRecord, ChatRecordKind } from "@ingle/protocol";
import {
  byAge,
  type ChatStorage,
  messageFileIds,
  type StoredChats,
  type WholeConversation,
} from "./chat-storage.ts";
import type { Conversation, Folder, Message, Preset, StoredFile } from "./conversation.ts";

/** Characters and changes of one request, well below what the server accepts; a single larger file is sent alone. */
const requestLengthMax = 8_000_000;
const requestChangesMax = 500;

type Put = Extract<ChatChange, { op: "put" }>;

export class AppStorage implements ChatStorage {
  readonly #chats: Chats;
  readonly #page: string;

  /** `page` is this page's id, so that it does not follow its own changes. */
  constructor(chats: Chats, page: string) {
    this.#chats = chats;
    this.#page = page;
  }

  async all(): Promise<StoredChats> {
    const { data } = await this.#chats.list();
    const of = (kind: ChatRecordKind) => data.filter((record) => record.kind === kind);
    return {
      conversations: of("conversation").map((record): Conversation => parseRecord(record)),
      folders: of("folder").map((record): Folder => parseRecord(record)),
      presets: of("preset").map((record): Preset => parseRecord(record)),
    };
  }

  async conversation(id: string): Promise<Conversation | undefined> {
    const record = await this.#chats.find("conversation", id);
    return record === undefined ? undefined : parseRecord(record);
  }

  async readMessages(conversationId: string): Promise<Message[]> {
    const { data } = await this.#chats.inside(conversationId, "message");
    return byAge(data.map((record): Message => parseRecord(record)));
  }

  async message(id: string): Promise<Message | undefined> {
    const record = await this.#chats.find("message", id);
    return record === undefined ? undefined : parseRecord(record);
  }

  async file(id: string): Promise<Blob | undefined> {
    const record = await this.#chats.find("file", id);
    if (record === undefined) return undefined;
    const { url }: KeptFile = parseRecord(record);
    return parseDataUrl(url);
  }

  async readFiles(conversationId: string): Promise<StoredFile[]> {
    const { data } = await this.#chats.inside(conversationId, "file");
    return data.flatMap((record) => {
      const { url }: KeptFile = parseRecord(record);
      const blob = parseDataUrl(url);
      return blob === undefined ? [] : [{ id: record.id, conversationId, data: blob }];
    });
  }

  async addConversation(
    conversation: Conversation,
    messages: readonly Message[] = [],
    files: readonly StoredFile[] = [],
  ): Promise<void> {
    await this.addConversations([{ conversation, messages, files }]);
  }

  async addConversations(whole: readonly WholeConversation[]): Promise<void> {
    await this.#put("always", whole);
  }

  /** Adds what is not there yet, such as a chat that was in a browser. */
  async adopt(
    conversation: Conversation,
    messages: readonly Message[],
    files: readonly StoredFile[],
  ): Promise<void> {
    await this.#put("absent", [{ conversation, messages, files }]);
  }

  async adoptFolder(folder: Folder): Promise<void> {
    await this.#change([toPut("folder", folder, "absent")]);
  }

  async adoptPreset(preset: Preset): Promise<void> {
    await this.#change([toPut("preset", preset, "absent")]);
  }

  async changeConversation(
    id: string,
    change: (conversation: Conversation) => Conversation,
  ): Promise<Conversation | undefined> {
    for (;;) {
      const record = await this.#chats.find("conversation", id);
      if (record === undefined) return undefined;
      const after = change(parseRecord(record));
      const put = { ...toPut("conversation", after, "present"), revision: record.revision };
      const { applied } = await this.#change([put]);
      if (applied[0] === true) return after;
    }
  }

  async addMessages(
    conversationId: string,
    messages: readonly Message[],
    files: readonly StoredFile[] = [],
  ): Promise<void> {
    await this.#change(await toContentPuts("always", { conversationId, messages, files }));
  }

  async saveMessages(messages: readonly Message[]): Promise<void> {
    await this.#change(messages.map((message) => toMessagePut(message, "present")));
  }

  async removeMessages(_conversationId: string, messages: readonly Message[]): Promise<void> {
    await this.#change([
      ...messages.map(({ id }) => toRemoval("message", id)),
      ...messages.flatMap(messageFileIds).map((id) => toRemoval("file", id)),
    ]);
  }

  async purge(conversationId: string): Promise<void> {
    await this.#change([toRemoval("conversation", conversationId)]);
  }

  async putFolder(folder: Folder): Promise<void> {
    await this.#change([toPut("folder", folder, "always")]);
  }

  async removeFolder(id: string): Promise<void> {
    await this.#change([toRemoval("folder", id)]);
    const { conversations } = await this.all();
    for (const { id: inside } of conversations.filter(({ folderId }) => folderId === id))
      await this.changeConversation(inside, (before) => ({ ...before, folderId: null }));
  }

  async putPresets(presets: readonly Preset[]): Promise<void> {
    await this.#change(presets.map((preset) => toPut("preset", preset, "always")));
  }

  async removePreset(id: string): Promise<void> {
    await this.#change([toRemoval("preset", id)]);
  }

  async #put(when: Put["when"], whole: readonly WholeConversation[]): Promise<void> {
    const changes: ChatChange[] = [];
    for (const { conversation, messages, files } of whole) {
      changes.push(toPut("conversation", conversation, when));
      for (const put of await toContentPuts(when, { conversationId: conversation.id, messages, files }))
        changes.push(put);
    }
    await this.#change(changes);
  }

  /** Sends changes, those that do not fit into one request in several. */
  async #change(changes: readonly ChatChange[]): Promise<ChatChangesResult> {
    const whole: ChatChangesResult = { applied: [], revision: 0 };
    for (const part of splitChanges(changes)) {
      const { applied, revision } = await this.#chats.change({ page: this.#page, changes: part });
      whole.applied.push(...applied);
      whole.revision = revision;
    }
    return whole;
  }
}

interface KeptFile {
  id: string;
  url: string;
}

/** Only this page writes these records, so that the caller knows their type. */
// oxlint-disable-next-line typescript/no-explicit-any -- as JSON.parse
const parseRecord = ({ text }: ChatRecord): any => JSON.parse(text);

function toPut(kind: "conversation" | "folder" | "preset", value: { id: string }, when: Put["when"]): Put {
  return { op: "put", kind, id: value.id, text: JSON.stringify(value), when };
}

function toMessagePut(message: Message, when: Put["when"]): Put {
  const { id, conversationId } = message;
  const text = JSON.stringify(message);
  return { op: "put", kind: "message", id, conversation_id: conversationId, text, when };
}

function toRemoval(kind: ChatRecordKind, id: string): ChatChange {
  return { op: "remove", kind, id };
}

async function toContentPuts(
  when: Put["when"],
  {
    conversationId,
    messages,
    files,
  }: { conversationId: string; messages: readonly Message[]; files: readonly StoredFile[] },
): Promise<Put[]> {
  const kept = files.map(async ({ id, data }): Promise<Put> => {
    const file: KeptFile = { id, url: await toDataUrl(data) };
    const text = JSON.stringify(file);
    return { op: "put", kind: "file", id, conversation_id: conversationId, text, when };
  });
  return [...messages.map((message) => toMessagePut(message, when)), ...(await Promise.all(kept))];
}

function* splitChanges(changes: readonly ChatChange[]): Generator<ChatChange[]> {
  let part: ChatChange[] = [];
  let length = 0;
  for (const change of changes) {
    const own = change.op === "put" ? change.text.length : 0;
    if (part.length > 0 && (part.length === requestChangesMax || length + own > requestLengthMax)) {
      yield part;
      part = [];
      length = 0;
    }
    part.push(change);
    length += own;
  }
  if (part.length > 0) yield part;
}

/** Bytes that are converted at a time: JavaScript engines limit the number of arguments. */
const pieceBytes = 0x8000;

async function toDataUrl(data: Blob): Promise<string> {
  const bytes = new Uint8Array(await data.arrayBuffer());
  let binary = "";
  for (let at = 0; at < bytes.length; at += pieceBytes)
    binary += String.fromCharCode(...bytes.subarray(at, at + pieceBytes));
  return `data:${data.type};base64,${btoa(binary)}`;
}

/** The bytes of a `data:` URL; undefined for anything else. The page's Content-Security-Policy does not allow fetching it. */
export function parseDataUrl(url: string): Blob | undefined {
  const [, type, base64] = /^data:([\w.+/-]*);base64,([\w+/=]*)$/.exec(url) ?? [];
  if (type === undefined || base64 === undefined) return undefined;
  try {
    return new Blob([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], { type });
  } catch {
    // DOMException: not base64.
    return undefined;
  }
}
