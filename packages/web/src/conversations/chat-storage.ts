// Where chats are kept: by the app (app-storage.ts), so that every browser and address has the same, or by the browser
// (browser-storage.ts), for other servers. Changes of several tabs to the same conversation are all kept.
import type {
  Attachment,
  Conversation,
  Folder,
  Message,
  Preset,
  StoredFile,
  TextAttachment,
} from "./conversation.ts";

export interface StoredChats {
  conversations: Conversation[];
  folders: Folder[];
  presets: Preset[];
}

export interface WholeConversation {
  conversation: Conversation;
  messages: readonly Message[];
  files: readonly StoredFile[];
}

export interface ChatStorage {
  /** Everything except messages and files. */
  all(): Promise<StoredChats>;
  conversation(id: string): Promise<Conversation | undefined>;
  /** The oldest first. */
  readMessages(conversationId: string): Promise<Message[]>;
  message(id: string): Promise<Message | undefined>;
  /** The bytes of an image; undefined if its message was removed. */
  file(id: string): Promise<Blob | undefined>;
  readFiles(conversationId: string): Promise<StoredFile[]>;
  /** Adds several conversations with all that they have, such as imported ones. */
  addConversations(whole: readonly WholeConversation[]): Promise<void>;
  /** Adds a conversation. */
  addConversation(
    conversation: Conversation,
    messages?: readonly Message[],
    files?: readonly StoredFile[],
  ): Promise<void>;
  /** Changes the current state of a conversation. Resolves with the new state, or undefined if it no longer exists. */
  changeConversation(
    id: string,
    change: (conversation: Conversation) => Conversation,
  ): Promise<Conversation | undefined>;
  /** Adds messages with the bytes of their images; does nothing if the conversation no longer exists. */
  addMessages(
    conversationId: string,
    messages: readonly Message[],
    files?: readonly StoredFile[],
  ): Promise<void>;
  /** Updates messages. One that was removed meanwhile, here or in another tab, stays removed. */
  saveMessages(messages: readonly Message[]): Promise<void>;
  removeMessages(conversationId: string, messages: readonly Message[]): Promise<void>;
  /** Permanently removes a conversation with its messages and files. */
  purge(conversationId: string): Promise<void>;
  putFolder(folder: Folder): Promise<void>;
  /** Removes a folder and keeps its conversations. */
  removeFolder(id: string): Promise<void>;
  /** Writes presets. The caller ensures that at most one is the default. */
  putPresets(presets: readonly Preset[]): Promise<void>;
  removePreset(id: string): Promise<void>;
}

export function byAge(messages: readonly Message[]): Message[] {
  return messages.toSorted((a, b) => a.createdAt - b.createdAt);
}

export function messageAttachments(message: Message): readonly Attachment[] {
  return message.role === "user" ? message.attachments : [];
}

/** The text documents of a path, the oldest first. */
export function textDocuments(path: readonly Message[]): TextAttachment[] {
  return path.flatMap(messageAttachments).filter((each): each is TextAttachment => each.kind === "text");
}

/** The ids of all files that may be kept of a message. */
export function messageFileIds(message: Message): string[] {
  return messageAttachments(message).map(attachmentFileId);
}

/** The id of the file with the bytes of an image, or with what was computed of a document. */
export function attachmentFileId({ kind, id }: Attachment): string {
  return kind === "text" ? vectorsId(id) : id;
}

/** The id of the file with the vectors of a document's passages. */
export function vectorsId(documentId: string): string {
  return `${documentId}.vectors`;
}

/** Enough to make collisions practically impossible. */
const idBytes = 12;

/** A new random id for a record. `crypto.randomUUID` is missing on pages served over plain http from other machines. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(idBytes));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
