// What is kept of conversations: the records of the browser's database, and of an export.

/** How much a model thinks before it answers; null leaves it to the model's template. */
export const efforts = ["none", "low", "medium", "high"] as const;
export type Effort = (typeof efforts)[number];

/** What a conversation asks of its models. `null` is not sent: the server's own default holds. */
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

/** A conversation without its messages. Times are milliseconds of the clock. */
export interface Conversation {
  id: string;
  title: string;
  /** The person named it: the first message does not. */
  isNamed: boolean;
  folderId: string | null;
  createdAt: number;
  updatedAt: number;
  /** It was deleted then and may still be brought back. */
  deletedAt: number | null;
  /** Which message follows which on the path: `choicesOf` its tree. */
  chosen: Record<string, string>;
  /** The models that answer next; several answer side by side. Empty: none was picked yet. */
  models: string[];
  /** How many answers each of them gives. */
  answers: number;
  settings: ChatSettings;
}

export interface Folder {
  id: string;
  name: string;
  createdAt: number;
}

/** Settings under a name, to be used in other conversations. */
export interface Preset {
  id: string;
  name: string;
  /** New conversations begin with it; at most one has this. */
  isDefault: boolean;
  settings: ChatSettings;
}

/** What was attached to a message. The bytes of images are kept apart, by the same id. */
export type Attachment =
  | { kind: "image"; id: string; name: string; type: string; bytes: number }
  | { kind: "text"; id: string; name: string; bytes: number; text: string };

/** The bytes of an image. */
export interface KeptFile {
  id: string;
  conversationId: string;
  data: Blob;
}

/**
 * `writing`: a page streams it now. `interrupted`: its page was closed in the middle. `stopped`: by the person.
 * All but `writing` are final, until it is continued.
 */
export type ReplyStatus = "writing" | "done" | "stopped" | "interrupted" | "failed";

/** What the server told of the work behind a reply; `null` what it tells at the end alone, of one that was stopped. */
export interface ReplyFigures {
  promptTokens: number | null;
  cachedTokens: number | null;
  completionTokens: number;
  /** Of the tokens behind the first; 0 where there is no other. */
  tokensPerSecond: number;
  /** Until the first token: milliseconds in which the prompt was read. */
  promptMs: number | null;
}

/** Why a reply failed. */
export interface ReplyError {
  code: string | null;
  message: string;
  /** With `context_length_exceeded`. */
  promptTokens: number | null;
  contextLength: number | null;
}

export interface Reply {
  model: string;
  /** Answers that were asked for together have the same: they stand side by side. */
  round: string;
  thinking: string;
  /** How long it thought before its answer began, as this page saw it; null while it does. */
  thinkingMs: number | null;
  status: ReplyStatus;
  /** `length`: a limit of tokens cut it. */
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

/** Enough that two never meet. */
const idBytes = 12;

/** A new id. Pages over plain http from other machines have no `crypto.randomUUID`. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(idBytes));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
