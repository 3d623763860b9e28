// Writes conversations with pictures out as prompts, in which markers stand for the pictures. Belongs to a Model that was
// loaded with a projector and lives as long as it.
import { z } from "zod";
import { EngineError } from "./errors.ts";
import { countMarkers, imageNotSupported } from "./image-prompt.ts";
import type { RgbImage } from "./images/rgb-image.ts";
import { countImages, Message } from "./messages.ts";
import type { ChatTemplateOptions, Tokenizer } from "./tokenizer.ts";

/** As `Message`, but a picture is only a place: the picture itself is handed to `generate()`. */
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

/** Templates only have to know where a picture is. */
const anyImage: RgbImage = { width: 1, height: 1, data: new Uint8Array(3) };

export class Processor {
  readonly tokenizer: Tokenizer;
  /** Stands for one picture in a prompt, where `applyChatTemplate` or the caller writes it. */
  readonly imageMarker: string;

  constructor(tokenizer: Tokenizer, imageMarker: string) {
    this.tokenizer = tokenizer;
    this.imageMarker = imageMarker;
  }

  /** As the function below. */
  async applyChatTemplate(
    messages: readonly TemplateMessage[],
    options: ChatTemplateOptions = {},
  ): Promise<string> {
    const checked = z.array(TemplateMessage).min(1).safeParse(messages);
    if (!checked.success) {
      throw new EngineError(
        "invalid_request",
        'messages must be a list of { role, content }; content is a text, or a list of { type: "text", text } and { type: "image" }.',
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
        "The model's chat template does not write out every picture of this conversation.",
      );
    }
    throw new EngineError(
      "invalid_request",
      `messages: ${this.imageMarker} stands for a picture and cannot be a word of a text here. Leave it out, or hand the ` +
        "conversation to model.generate({ messages }).",
      { details: { param: "messages" } },
    );
  }
}

/**
 * The prompt that the model's chat template makes of a conversation: `processor.imageMarker` stands where the pictures go that
 * `generate()` is given, in their order. Throws `image_not_supported` without a processor, as of a model that reads no pictures,
 * `invalid_request` for what is no conversation, or `template_failed`.
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
