// The export file: all chats as JSON, including their images. An import is validated completely before any of it is stored.
import {
  efforts,
  emptySettings,
  newId,
  type Attachment,
  type ChatSettings,
  type Conversation,
  type Folder,
  type Message,
  type Preset,
} from "./conversation.ts";

export interface ArchivedChat {
  conversation: Conversation;
  messages: Message[];
  /** `data:` URLs of images, by attachment id. */
  images: Record<string, string>;
}

export interface ChatArchive {
  format: "ingle-chats";
  version: 1;
  chats: ArchivedChat[];
  folders: Folder[];
  presets: Preset[];
}

export function makeArchive(
  chats: ArchivedChat[],
  folders: readonly Folder[],
  presets: readonly Preset[],
): ChatArchive {
  return { format: "ingle-chats", version: 1, chats, folders: [...folders], presets: [...presets] };
}

/** Parses an export; undefined if any part of it is invalid. */
export function readArchive(text: string): ChatArchive | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isArchive(json) ? json : undefined;
}

/** A copy with new ids, so that an import never overwrites anything. */
export function withNewIds({ conversation, messages, images }: ArchivedChat): ArchivedChat {
  const ids = new Map<string, string>();
  const renew = (id: string) => {
    const known = ids.get(id) ?? newId();
    ids.set(id, known);
    return known;
  };
  const id = newId();
  return {
    conversation: {
      ...conversation,
      id,
      chosen: Object.fromEntries(
        Object.entries(conversation.chosen).map(([key, child]) => [
          key === "" ? "" : renew(key),
          renew(child),
        ]),
      ),
    },
    messages: messages.map((message) => {
      const moved = {
        id: renew(message.id),
        conversationId: id,
        parentId: message.parentId === null ? null : renew(message.parentId),
      };
      if (message.role === "assistant") return { ...message, ...moved };
      const attachments = message.attachments.map((each): Attachment => ({ ...each, id: renew(each.id) }));
      return { ...message, ...moved, attachments };
    }),
    images: Object.fromEntries(Object.entries(images).map(([image, url]) => [renew(image), url])),
  };
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number" && Number.isFinite(value);
const isFlag: Check = (value) => typeof value === "boolean";
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const oneOf =
  (...choices: readonly unknown[]): Check =>
  (value) =>
    choices.includes(value);
const recordOf =
  (check: Check): Check =>
  (value) =>
    isRecord(value) && Object.values(value).every(check);
const shape =
  (fields: Record<string, Check>): Check =>
  (value) =>
    isRecord(value) && Object.entries(fields).every(([name, check]) => check(value[name]));
const anyOf =
  (...checks: readonly Check[]): Check =>
  (value) =>
    checks.some((check) => check(value));

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const settingNames = Object.keys(emptySettings).filter(
  (name) => name !== "systemPrompt" && name !== "effort",
);
const isSettings = shape({
  systemPrompt: isText,
  effort: orNull(oneOf(...efforts)),
  ...Object.fromEntries(settingNames.map((name) => [name, orNull(isNumber)])),
} satisfies Partial<Record<keyof ChatSettings, Check>>);

const isConversation = shape({
  id: isText,
  title: isText,
  isNamed: isFlag,
  folderId: orNull(isText),
  createdAt: isNumber,
  updatedAt: isNumber,
  deletedAt: orNull(isNumber),
  chosen: recordOf(isText),
  models: listOf(isText),
  answers: oneOf(1, 2, 3, 4),
  settings: isSettings,
});

const isAttachment = anyOf(
  shape({ kind: oneOf("image"), id: isText, name: isText, type: isText, bytes: isNumber }),
  shape({ kind: oneOf("text"), id: isText, name: isText, bytes: isNumber, text: isText }),
);

const isFigures = shape({
  promptTokens: orNull(isNumber),
  cachedTokens: orNull(isNumber),
  completionTokens: isNumber,
  tokensPerSecond: isNumber,
  promptMs: orNull(isNumber),
});

const isReply = shape({
  model: isText,
  round: isText,
  thinking: isText,
  thinkingMs: orNull(isNumber),
  status: oneOf("writing", "done", "stopped", "interrupted", "failed"),
  finish: oneOf(null, "stop", "length", "tool_calls"),
  error: orNull(
    shape({
      code: orNull(isText),
      message: isText,
      promptTokens: orNull(isNumber),
      contextLength: orNull(isNumber),
    }),
  ),
  figures: orNull(isFigures),
});

const messagePlace = {
  id: isText,
  conversationId: isText,
  parentId: orNull(isText),
  createdAt: isNumber,
  text: isText,
};
const isMessage = anyOf(
  shape({ ...messagePlace, role: oneOf("user"), attachments: listOf(isAttachment) }),
  shape({ ...messagePlace, role: oneOf("assistant"), reply: isReply }),
);

const checkArchive = shape({
  format: oneOf("ingle-chats"),
  version: oneOf(1),
  chats: listOf(
    shape({ conversation: isConversation, messages: listOf(isMessage), images: recordOf(isText) }),
  ),
  folders: listOf(shape({ id: isText, name: isText, createdAt: isNumber })),
  presets: listOf(shape({ id: isText, name: isText, isDefault: isFlag, settings: isSettings })),
});

function isArchive(value: unknown): value is ChatArchive {
  return checkArchive(value);
}
