// Formats conversations with images as prompts with markers in place of the images. A processor belongs to a Model that was
// loaded with a projector, and lives as long as the model.
import { z } from "zod";
import { EngineError, invalidRequest } from "../base/errors.ts";
import { countMarkers, imageNotSupported } from "./image-prompt.ts";
import type { RgbImage } from "../media/images/image-limits.ts";
import { countImages, Message } from "./messages.ts";
import type { ChatTemplateOptions, Tokenizer } from "./tokenizer.ts";

/** A `Message` with placeholders for images: the images themselves are passed to `generate()`. */
export const TemplateMessage = Message.extend({
  content: z.union([
    z.string(),
    z.array(
      z.discriminatedUnion("type", [
        z.object({ type: z.literal("text"), text: z.string() }),
        z.object({ type: z.literal("image") }),
      ]),
    ),
  ]),
}).meta({ id: "TemplateMessage" });
export type TemplateMessage = z.infer<typeof TemplateMessage>;

/** Templates only need the position of an image. */
const anyImage: RgbImage = { width: 1, height: 1, data: new Uint8Array(3) };

export class Processor {
  readonly tokenizer: Tokenizer;
  /** The text that stands for one image in a prompt. */
  readonly imageMarker: string;

  constructor(tokenizer: Tokenizer, imageMarker: string) {
    this.tokenizer = tokenizer;
    this.imageMarker = imageMarker;
  }

  /** Formats a conversation; see the function `applyChatTemplate`. */
  async applyChatTemplate(
    messages: readonly TemplateMessage[],
    options: ChatTemplateOptions = {},
  ): Promise<string> {
    const checked = z.array(TemplateMessage).min(1).safeParse(messages);
    if (!checked.success) {
      throw new EngineError(
        "invalid_request",
        'messages must be a list of { role, content }; content is a string, or a list of { type: "text", text } and { type: "image" }.',
        { cause: checked.error, details: { param: "messages" } },
      );
    }
    const withImages = checked.data.map(withAnyImage);
    const prompt = await this.tokenizer.applyChatTemplate(withImages, options);
    this.#checkMarkers(prompt, countImages(withImages));
    return prompt;
  }

  #checkMarkers(prompt: string, images: number): void {
    const markers = countMarkers(prompt, this.imageMarker);
    if (markers === images) return;
    if (markers < images) {
      throw new EngineError(
        "template_failed",
        "The model's chat template leaves out an image of this conversation.",
      );
    }
    throw invalidRequest(
      "messages",
      `${this.imageMarker} is the marker of an image and cannot be part of a text here. Leave it out, or pass the ` +
        "conversation to model.generate({ messages }).",
    );
  }
}

/**
 * Formats a conversation with the model's chat template. In the prompt, `processor.imageMarker` stands for each image; pass the images
 * to `generate()` in the same order. Throws `image_not_supported` without a processor (the model cannot read images),
 * `invalid_request` (invalid messages) or `template_failed`.
 */
export async function applyChatTemplate(
  processor: Processor | null | undefined,
  messages: readonly TemplateMessage[],
  options: ChatTemplateOptions = {},
): Promise<string> {
  if (processor === null || processor === undefined) throw imageNotSupported("processor");
  return processor.applyChatTemplate(messages, options);
}

function withAnyImage({ content, ...message }: TemplateMessage): Message {
  if (typeof content === "string") return { ...message, content };
  return {
    ...message,
    content: content.map((part) => (part.type === "image" ? { type: "image", image: anyImage } : part)),
  };
}
