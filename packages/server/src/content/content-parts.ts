// The content of messages before their images, documents and audios are read: a text, or parts in their order. The APIs convert their
// messages to these, with ids for the calls of tools that have none; read-content.ts then reads the parts.
import type { GenerationRequest, Message, ToolCall } from "@ingle/engine";

/** An image by its URL. */
export interface UnreadImage {
  type: "image";
  url: string;
  /** Path of the image's part in the request. */
  place: string;
  /** Path of the field that holds the URL. */
  param: string;
}

/** A PDF or a text file, of which the model gets the text. */
export interface UnreadDocument {
  type: "document";
  /** Base64, or a data URL. */
  data: string;
  /** Comes before the text. */
  name?: string | undefined;
  /** Path of the field that holds the data. */
  param: string;
}

/** An audio file, or one in base64. */
export interface UnreadAudio {
  type: "audio";
  data: string | Uint8Array;
  /** Path of the audio's part in the request. */
  place: string;
  /** Path of the field that holds the data. */
  param: string;
}

export type UnreadPart = { type: "text"; text: string } | UnreadImage | UnreadDocument | UnreadAudio;
export type UnreadContent = string | UnreadPart[];
export type UnreadMessage = Omit<Message, "content"> & { content: UnreadContent };

/** A chat request whose images, documents and audios are still to be read. */
export type UnreadRequest = Omit<Extract<GenerationRequest, { messages: unknown }>, "messages"> & {
  messages: UnreadMessage[];
};

/** The content of a message. Parts that are all text become one text. */
export function toContent<Part>(
  content: string | readonly Part[],
  param: string,
  partOf: (part: Part, param: string) => UnreadPart,
): UnreadContent {
  if (typeof content === "string") return content;
  const parts = content.map((part, index) => partOf(part, `${param}[${index}]`));
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.length === parts.length ? joinTexts(texts) : parts;
}

/** The content of a message that can only have text. */
export function textOfParts(content: string | readonly { text: string }[]): string {
  return typeof content === "string" ? content : joinTexts(content.map(({ text }) => text));
}

/** Joins two contents. Two texts become one, with a line break between them unless one is empty. */
export function joinContents(one: UnreadContent, other: UnreadContent): UnreadContent {
  if (typeof one === "string" && typeof other === "string")
    return joinTexts([one, other].filter((text) => text !== ""));
  return [...toParts(one), ...toParts(other)];
}

/** A line break keeps the words of two parts apart. */
export function joinTexts(texts: readonly string[]): string {
  return texts.join("\n");
}

function toParts(content: UnreadContent): UnreadPart[] {
  if (typeof content !== "string") return content;
  return content === "" ? [] : [{ type: "text", text: content }];
}

/** Finds the call that a result without an id belongs to. */
export interface CallIds {
  /** An id for a call that has none. */
  next: () => string;
  /** Records the calls of an assistant's message. */
  called: (calls: readonly ToolCall[]) => void;
  /** The id of the call that a result belongs to: the given one, else that of the first open call, preferably of this name. */
  resultOf: (given: string, name: string | undefined) => string | undefined;
}

export function callIds(): CallIds {
  let count = 0;
  let open: readonly ToolCall[] = [];
  const close = (id: string | undefined): string | undefined => {
    open = open.filter((call) => call.id !== id);
    return id;
  };
  return {
    next: () => `call${String((count += 1)).padStart(5, "0")}`,
    called: (calls) => {
      open = calls;
    },
    resultOf: (given, name) => {
      if (given !== "") return close(given);
      return close((open.find((call) => call.name === name) ?? open[0])?.id);
    },
  };
}
