// The records of conversations, as they are stored in the browser's database and in exports. Only the import of an export reads the
// schemas; everything else takes their types, so that the first page does without them.
import * as z from "zod/mini";

// The page's policy forbids code from text, which the schemas would otherwise be compiled to.
z.config({ jitless: true });

const nullableNumber = z.nullable(z.number());

/** The settings of a conversation. `null` is not sent, so that the server's default applies. Older ones lack the optional fields. */
export type ChatSettings = z.infer<typeof ChatSettings>;
const ChatSettings = z.object({
  systemPrompt: z.string(),
  temperature: nullableNumber,
  topP: nullableNumber,
  topK: nullableNumber,
  minP: nullableNumber,
  repeatPenalty: nullableNumber,
  maxTokens: nullableNumber,
  /** Tokens that a model may think before it replies. */
  thinkingTokens: z.optional(nullableNumber),
  /** How much a model thinks before it replies. */
  effort: z.nullable(z.enum(["none", "low", "medium", "high"])),
  seed: z.optional(nullableNumber),
  xtcProbability: z.optional(nullableNumber),
  xtcThreshold: z.optional(nullableNumber),
  dryMultiplier: z.optional(nullableNumber),
  dryBase: z.optional(nullableNumber),
  dryAllowedLength: z.optional(nullableNumber),
  dryPenaltyLastN: z.optional(nullableNumber),
  /** Texts that end a reply, one a line, as they were typed. */
  stop: z.optional(z.string()),
  /** The JSON schema of the reply, as it was typed; empty: any text. */
  jsonSchema: z.optional(z.string()),
  /** Whether the oldest turns are left out when the conversation exceeds the context. */
  rolling: z.optional(z.boolean()),
  /** The embedding model that finds passages of documents; null: one that is installed, empty: none, only their words count. */
  embedder: z.optional(z.nullable(z.string())),
});

/** A conversation without its messages. Times are Unix milliseconds. */
export type Conversation = z.infer<typeof Conversation>;
const Conversation = z.object({
  id: z.string(),
  title: z.string(),
  /** Whether the user named it; otherwise its title is taken from the first message. */
  isNamed: z.boolean(),
  folderId: z.nullable(z.string()),
  createdAt: z.number(),
  updatedAt: z.number(),
  /** When it was deleted; it can still be restored for a while. */
  deletedAt: nullableNumber,
  /** The chosen child of each message, as `toStoredChoices` its tree returns them. */
  chosen: z.record(z.string(), z.string()),
  /** The models that reply to the next message, side by side. Empty if none was picked yet. */
  models: z.array(z.string()),
  /** How many replies each model gives: 1 to 4. */
  answers: z.int().check(z.gte(1), z.lte(4)),
  settings: ChatSettings,
  /** The MCP servers whose tools the models may call; absent means none. */
  toolServers: z.optional(z.array(z.string())),
});

export type Folder = z.infer<typeof Folder>;
const Folder = z.object({ id: z.string(), name: z.string(), createdAt: z.number() });

/** Named settings to use in several conversations. */
export type Preset = z.infer<typeof Preset>;
const Preset = z.object({
  id: z.string(),
  name: z.string(),
  /** Whether new conversations start with it; true for at most one preset. */
  isDefault: z.boolean(),
  settings: ChatSettings,
});

const file = { id: z.string(), name: z.string(), bytes: z.number() };

/** An attachment of a message. The bytes of an image are stored apart, under the same id. */
export type Attachment = z.infer<typeof Attachment>;
const Attachment = z.discriminatedUnion("kind", [
  z.object({ ...file, kind: z.literal("image"), type: z.string() }),
  z.object({
    ...file,
    kind: z.literal("text"),
    text: z.string(),
    /** Whether a question is sent with passages of it instead of the whole. */
    isSearched: z.optional(z.boolean()),
  }),
]);

export type TextAttachment = Extract<Attachment, { kind: "text" }>;

/** A part of a document. A copy, so that what was sent stays as it was. */
export type Passage = z.infer<typeof Passage>;
const Passage = z.object({
  /** The document's name. */
  name: z.string(),
  /** Its first and last page or line, counted from 1, and how many the document has. */
  unit: z.enum(["page", "line"]),
  first: z.number(),
  last: z.number(),
  of: z.number(),
  text: z.string(),
});

/** What was sent of documents that are searched, instead of the whole. */
export type FoundPassages = z.infer<typeof FoundPassages>;
const FoundPassages = z.object({
  passages: z.array(Passage),
  /** As the first model of the question counts them. */
  tokens: z.number(),
  /** The embedding model that compared meanings; null if only words counted. */
  embedder: z.nullable(z.string()),
  /** Why it could not, though one was chosen; absent if nothing failed. */
  problem: z.optional(z.object({ code: z.nullable(z.string()), message: z.string() })),
});

/** The bytes of an image, or what is kept of a document beside its text. */
export interface StoredFile {
  id: string;
  conversationId: string;
  data: Blob;
}

/** The server's figures of a reply. `null` for those that it reports only at the end, if the reply was stopped before. */
export type ReplyFigures = z.infer<typeof ReplyFigures>;
const ReplyFigures = z.object({
  promptTokens: nullableNumber,
  cachedTokens: nullableNumber,
  completionTokens: z.number(),
  /** Generation speed after the first token; 0 if there is only one. */
  tokensPerSecond: z.number(),
  /** Milliseconds of prefill, until the first token. */
  promptMs: nullableNumber,
});

/** Why a reply failed. */
export type ReplyError = z.infer<typeof ReplyError>;
const ReplyError = z.object({
  code: z.nullable(z.string()),
  message: z.string(),
  /** Set together with the code `context_length_exceeded`. */
  promptTokens: nullableNumber,
  contextLength: nullableNumber,
});

/** A part of a tool's result, as a message to the model has it. */
export type ResultPart = z.infer<typeof ResultPart>;
const ResultPart = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image_url"), image_url: z.object({ url: z.string() }) }),
]);

/** A call of a tool that a model asked for, and what became of it. */
export type ToolCall = z.infer<typeof ToolCall>;
const ToolCall = z.object({
  id: z.string(),
  /** The tool's name in requests to models. */
  name: z.string(),
  /** As the model wrote them: usually the text of a JSON object. */
  arguments: z.string(),
  /** Where the tool is; null if no server that is turned on has one with this name. */
  place: z.nullable(z.object({ server: z.string(), tool: z.string() })),
  /** `waiting` and `running` calls of a reply that nobody is writing were stopped with it: they are never run later. */
  status: z.enum(["waiting", "running", "done", "failed", "refused"]),
  /** What the model gets; empty until there is a result. */
  content: z.array(ResultPart),
});

/** A part of a reply that ends with calls; the next part follows their results. */
export type ToolStep = z.infer<typeof ToolStep>;
const ToolStep = z.object({ text: z.string(), thinking: z.string(), calls: z.array(ToolCall) });

export type Reply = z.infer<typeof Reply>;
const Reply = z.object({
  model: z.string(),
  /** Replies that were requested together share this id and are shown side by side. */
  round: z.string(),
  /** What came before its text; absent without calls. */
  steps: z.optional(z.array(ToolStep)),
  thinking: z.string(),
  /** How long it thought before the text began, as measured by this page; null while it thinks. */
  thinkingMs: nullableNumber,
  /**
   * `writing`: a page is streaming it. `interrupted`: the page was closed or lost its connection. `stopped`: by the user.
   * All except `writing` are final, unless the reply is continued.
   */
  status: z.enum(["writing", "done", "stopped", "interrupted", "failed"]),
  /** `length`: it reached a token limit. */
  finish: z.nullable(z.enum(["stop", "length", "tool_calls"])),
  error: z.nullable(ReplyError),
  figures: z.nullable(ReplyFigures),
  /** The context that the model had then; null if unknown, absent in older replies. It may be another one now. */
  contextLength: z.optional(nullableNumber),
  /** How many of the oldest messages the model did not get; absent: none. */
  leftOut: z.optional(z.number()),
  /** Whether the user wrote its text. */
  isEdited: z.optional(z.boolean()),
});

const message = {
  id: z.string(),
  conversationId: z.string(),
  parentId: z.nullable(z.string()),
  createdAt: z.number(),
  text: z.string(),
};

export type UserMessage = z.infer<typeof UserMessage>;
const UserMessage = z.object({
  ...message,
  role: z.literal("user"),
  attachments: z.array(Attachment),
  /** Of its own documents and of those before it; absent before they are looked for, and if none is searched. */
  found: z.optional(FoundPassages),
});

export type ReplyMessage = z.infer<typeof ReplyMessage>;
const ReplyMessage = z.object({ ...message, role: z.literal("assistant"), reply: Reply });

export type Message = UserMessage | ReplyMessage;

export type ArchivedChat = z.infer<typeof ArchivedChat>;
const ArchivedChat = z.object({
  conversation: Conversation,
  messages: z.array(z.discriminatedUnion("role", [UserMessage, ReplyMessage])),
  /** `data:` URLs of images, by attachment id. */
  images: z.record(z.string(), z.string()),
});

/** The export file: all chats, including their images. */
export type ChatArchive = z.infer<typeof ChatArchive>;
const ChatArchive = z.object({
  format: z.literal("ingle-chats"),
  version: z.literal(1),
  chats: z.array(ArchivedChat),
  folders: z.array(Folder),
  presets: z.array(Preset),
});

/** Checks an export; undefined if any part of it is invalid, so that nothing of it is stored. */
export function readArchive(value: unknown): ChatArchive | undefined {
  return ChatArchive.safeParse(value).data;
}
