// The text of a message's parts. Used by the mappers of each protocol.
import { WireError } from "../wire-error.ts";

/** `textOf` gives undefined for an image. Throws `image_not_supported`. */
export function contentText<Part>(
  content: string | readonly Part[],
  param: string,
  textOf: (part: Part) => string | undefined,
): string {
  if (typeof content === "string") return content;
  return joinTexts(content.map((part, index) => textOf(part) ?? refuseImage(`${param}[${index}]`)));
}

/** Parts are separate paragraphs to their sender: a line break keeps their words apart. */
export function joinTexts(texts: readonly string[]): string {
  return texts.join("\n");
}

export function refuseImage(param: string): never {
  throw new WireError("image_not_supported", "This model reads text only; leave the image out.", { param });
}
