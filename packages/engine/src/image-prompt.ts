// A prompt that is no conversation and may have pictures in it: markers stand where they are. Used by Model and Processor.
import { EngineError } from "./errors.ts";
import type { RgbImage } from "./images/rgb-image.ts";
import { fromNative, type NativeModel, type NativePrompt } from "./native.ts";
import { promptTokens, type PlainPrompt } from "./prompt-tokens.ts";
import type { Tokenizer } from "./tokenizer.ts";

export interface ImagePrompt extends PlainPrompt {
  /** One for each marker of the prompt. Undefined: none, and the marker is a word like any other. */
  images?: readonly RgbImage[] | undefined;
}

/** How many pictures a text has a place for. */
export function countMarkers(text: string, marker: string): number {
  return text.split(marker).length - 1;
}

/** The error for pictures that a model cannot see; `param` is where they came. */
export function imageNotSupported(param: string): EngineError {
  const message = "This model reads no pictures. Take one that does, or load it with its projector (mmproj).";
  return new EngineError("image_not_supported", message, { details: { param } });
}

/** Throws `image_not_supported`, and `invalid_request` where there are not as many pictures as places for them. */
export async function imagePrompt(
  { images, ...request }: ImagePrompt,
  tokenizer: Tokenizer,
  native: NativeModel,
): Promise<Pick<NativePrompt, "tokens" | "images">> {
  const { info } = native;
  const { prompt, suffix } = request;
  if (images === undefined || (images.length === 0 && typeof prompt !== "string"))
    return { tokens: await promptTokens(request, tokenizer, info), images: null };
  if (images.length > 0 && !info.readsImages) throw imageNotSupported("images");
  if (typeof prompt !== "string" || (images.length > 0 && suffix !== ""))
    throw refused("they belong into a prompt that is a text, without a suffix");
  checkMarkers(prompt, info.imageMarker, images.length);
  if (images.length === 0) return { tokens: await promptTokens(request, tokenizer, info), images: null };
  return fromNative(native.prepareImages({ text: prompt, images }));
}

function checkMarkers(prompt: string, marker: string, images: number): void {
  const markers = countMarkers(prompt, marker);
  if (markers === images) return;
  throw refused(
    `pictures given: ${images}; places for them in the prompt: ${markers}. Each is marked by ${marker}, and ` +
      'applyChatTemplate(processor, messages) writes one for every { type: "image" }',
    { images, markers },
  );
}

function refused(reason: string, numbers: Record<string, number> = {}): EngineError {
  return new EngineError("invalid_request", `images: ${reason}.`, {
    details: { param: "images", ...numbers },
  });
}
