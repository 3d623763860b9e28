// What a message says, before its images are read: a text, or texts and images in their order. Made by the mappers of each
// protocol; images/read-images.ts makes the engine's messages of it.
import type { GenerationRequest, Message } from "@ingle/engine";

/** An image as a request names it. */
export interface UnreadImage {
  type: "image";
  url: string;
  /** The request's part that is the image, and the field in it that holds the URL. */
  place: string;
  param: string;
}

export type UnreadPart = { type: "text"; text: string } | UnreadImage;
export type UnreadContent = string | UnreadPart[];
export type UnreadMessage = Omit<Message, "content"> & { content: UnreadContent };

/** A request for a chat whose images have not been read yet. */
export type UnreadRequest = Omit<Extract<GenerationRequest, { messages: unknown }>, "messages"> & {
  messages: UnreadMessage[];
};

/** A message's content; without an image in it, its parts are one text. */
export function toContent<Part>(
  content: string | readonly Part[],
  param: string,
  partOf: (part: Part, param: string) => UnreadPart,
): UnreadContent {
  if (typeof content === "string") return content;
  const parts = content.map((part, index) => partOf(part, `${param}[${index}]`));
  return parts.some(({ type }) => type === "image") ? parts : joinTexts(parts.flatMap(textOf));
}

/** The content of a message that can have no image. */
export function textOfParts(content: string | readonly { text: string }[]): string {
  return typeof content === "string" ? content : joinTexts(content.map(({ text }) => text));
}

/** One after the other. Texts stay one text, with a line break between them where both say something. */
export function joinContents(one: UnreadContent, other: UnreadContent): UnreadContent {
  if (typeof one === "string" && typeof other === "string")
    return joinTexts([one, other].filter((text) => text !== ""));
  return [...partsOf(one), ...partsOf(other)];
}

/** Parts are separate paragraphs to their sender: a line break keeps their words apart. */
export function joinTexts(texts: readonly string[]): string {
  return texts.join("\n");
}

function partsOf(said: UnreadContent): UnreadPart[] {
  if (typeof said !== "string") return said;
  return said === "" ? [] : [{ type: "text", text: said }];
}

function textOf(part: UnreadPart): string[] {
  return part.type === "text" ? [part.text] : [];
}
