// The records of conversations, as they are stored in the browser's database and in exports.

/** How much a model thinks before it replies. */
export const efforts = ["none", "low", "medium", "high"] as const;
export type Effort = (typeof efforts)[number];

/** The settings of a conversation. `null` is not sent, so that the server's default applies. */
export interface ChatSettings {
  systemPrompt: string;
  temperature: number | null;
  topP: number | null;
  topK: number | null;
  minP: number | null;
  repeatPenalty: number | null;
  maxTokens: number | null;
  effort: Effort | null;
}

export const emptySettings: ChatSettings = {
  systemPrompt: "",
  temperature: null,
  topP: null,
  topK: null,
  minP: null,
  repeatPenalty: null,
  maxTokens: null,
  effort: null,
};

/** A conversation without its messages. Times are Unix milliseconds. */
export interface Conversation {
  id: string;
  title: string;
  /** Whether the user named it; otherwise its title is taken from the first message. */
  isNamed: boolean;
  folderId: string | null;
  createdAt: number;
  updatedAt: number;
  /** When it was deleted; it can still be restored for a while. */
  deletedAt: number | null;
  /** The chosen child of each message, as `choicesOf` its tree returns them. */
  chosen: Record<string, string>;
  /** The models that reply to the next message, side by side. Empty if none was picked yet. */
  models: string[];
  /** How many replies each model gives. */
  answers: number;
  settings: ChatSettings;
}

export interface Folder {
  id: string;
  name: string;
  createdAt: number;
}

/** Named settings to use in several conversations. */
export interface Preset {
  id: string;
  name: string;
  /** Whether new conversations start with it; true for at most one preset. */
  isDefault: boolean;
  settings: ChatSettings;
}

/** An attachment of a message. The bytes of an image are stored apart, under the same id. */
export type Attachment =
  | { kind: "image"; id: string; name: string; type: string; bytes: number }
  | { kind: "text"; id: string; name: string; bytes: number; text: string };

/** The bytes of an image. */
export interface StoredFile {
  id: string;
  conversationId: string;
  data: Blob;
}

/**
 * `writing`: a page is streaming it. `interrupted`: the page was closed or lost its connection. `stopped`: by the user.
 * All except `writing` are final, unless the reply is continued.
 */
export type ReplyStatus = "writing" | "done" | "stopped" | "interrupted" | "failed";

/** The server's figures of a reply. `null` for those that it reports only at the end, if the reply was stopped before. */
export interface ReplyFigures {
  promptTokens: number | null;
  cachedTokens: number | null;
  completionTokens: number;
  /** Generation speed after the first token; 0 if there is only one. */
  tokensPerSecond: number;
  /** Milliseconds of prefill, until the first token. */
  promptMs: number | null;
}

/** Why a reply failed. */
export interface ReplyError {
  code: string | null;
  message: string;
  /** Set together with the code `context_length_exceeded`. */
  promptTokens: number | null;
  contextLength: number | null;
}

export interface Reply {
  model: string;
  /** Replies that were requested together share this id and are shown side by side. */
  round: string;
  thinking: string;
  /** How long it thought before the text began, as measured by this page; null while it thinks. */
  thinkingMs: number | null;
  status: ReplyStatus;
  /** `length`: it reached a token limit. */
  finish: "stop" | "length" | "tool_calls" | null;
  error: ReplyError | null;
  figures: ReplyFigures | null;
}

export interface UserMessage {
  role: "user";
  id: string;
  conversationId: string;
  parentId: string | null;
  createdAt: number;
  text: string;
  attachments: Attachment[];
}

export interface ReplyMessage {
  role: "assistant";
  id: string;
  conversationId: string;
  parentId: string | null;
  createdAt: number;
  text: string;
  reply: Reply;
}

export type Message = UserMessage | ReplyMessage;

/** Enough to make collisions practically impossible. */
const idBytes = 12;

/** A new random id. `crypto.randomUUID` is missing on pages served over plain http from other machines. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(idBytes));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
