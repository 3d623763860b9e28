// The text of a message's parts. Used by the mappers of each protocol.
import { WireError } from "../wire-error.ts";

/**
 * Parts are separate paragraphs to their sender: a line break keeps their words apart. `textOf` gives undefined for an
 * image. Throws `image_not_supported`.
 */
export function contentText<Part>(
  content: string | readonly Part[],
  param: string,
  textOf: (part: Part) => string | undefined,
): string {
  if (typeof content === "string") return content;
  const texts = content.map((part, index) => {
    const text = textOf(part);
    if (text !== undefined) return text;
    throw new WireError("image_not_supported", "This model reads text only; leave the image out.", {
      param: `${param}[${index}]`,
    });
  });
  return texts.join("\n");
}
