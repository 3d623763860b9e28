// The content of messages before their images are read: a text, or text and image parts in their order. Protocols convert their
// messages to these; images/read-images.ts then reads the images.
import type { GenerationRequest, Message } from "@ingle/engine";

/** An image by its URL. */
export interface UnreadImage {
  type: "image";
  url: string;
  /** Path of the image's part in the request. */
  place: string;
  /** Path of the field that holds the URL. */
  param: string;
}

export type UnreadPart = { type: "text"; text: string } | UnreadImage;
export type UnreadContent = string | UnreadPart[];
export type UnreadMessage = Omit<Message, "content"> & { content: UnreadContent };

/** A chat request whose images are still to be read. */
export type UnreadRequest = Omit<Extract<GenerationRequest, { messages: unknown }>, "messages"> & {
  messages: UnreadMessage[];
};

/** The content of a message. Without images, its parts become one text. */
export function toContent<Part>(
  content: string | readonly Part[],
  param: string,
  partOf: (part: Part, param: string) => UnreadPart,
): UnreadContent {
  if (typeof content === "string") return content;
  const parts = content.map((part, index) => partOf(part, `${param}[${index}]`));
  return parts.some(({ type }) => type === "image") ? parts : joinTexts(parts.flatMap(textOf));
}

/** The content of a message that cannot have images. */
export function textOfParts(content: string | readonly { text: string }[]): string {
  return typeof content === "string" ? content : joinTexts(content.map(({ text }) => text));
}

/** Joins two contents. Two texts become one, with a line break between them unless one is empty. */
export function joinContents(one: UnreadContent, other: UnreadContent): UnreadContent {
  if (typeof one === "string" && typeof other === "string")
    return joinTexts([one, other].filter((text) => text !== ""));
  return [...partsOf(one), ...partsOf(other)];
}

/** A line break keeps the words of two parts apart. */
export function joinTexts(texts: readonly string[]): string {
  return texts.join("\n");
}

function partsOf(content: UnreadContent): UnreadPart[] {
  if (typeof content !== "string") return content;
  return content === "" ? [] : [{ type: "text", text: content }];
}

function textOf(part: UnreadPart): string[] {
  return part.type === "text" ? [part.text] : [];
}
