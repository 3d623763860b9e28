// A text prompt with images, whose places are marked.
import { EngineError, invalidRequest } from "../base/errors.ts";
import type { RgbImage } from "../media/images/image-limits.ts";
import { fromNative, type NativeModel, type NativePrompt } from "../native/addon.ts";
import { promptTokens, type PlainPrompt } from "./prompt-tokens.ts";
import type { Tokenizer } from "./tokenizer.ts";

interface ImagePrompt extends PlainPrompt {
  /** One for each marker in the prompt. Undefined: none, and the marker is ordinary text. */
  images?: readonly RgbImage[] | undefined;
}

/** The number of image markers in a text. */
export function countMarkers(text: string, marker: string): number {
  return text.split(marker).length - 1;
}

/** The error for images that a model cannot read; `param` is the field that has them. */
export function imageNotSupported(param: string): EngineError {
  const message = "This model cannot read images. Use one that does, or load it with its projector (mmproj).";
  return new EngineError("image_not_supported", message, { details: { param } });
}

/** Throws `image_not_supported`, or `invalid_request` unless there is one marker for each image. */
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
    throw invalidRequest("images", "they need a prompt that is a text, without a suffix.");
  checkMarkers(prompt, info.imageMarker, images.length);
  if (images.length === 0) return { tokens: await promptTokens(request, tokenizer, info), images: null };
  return fromNative(native.prepareImages({ text: prompt, images }));
}

function checkMarkers(prompt: string, marker: string, images: number): void {
  const markers = countMarkers(prompt, marker);
  if (markers === images) return;
  const reason =
    `there are ${images}, but the prompt has ${markers} markers (${marker}); ` +
    'applyChatTemplate(processor, messages) writes one for every { type: "image" }.';
  throw invalidRequest("images", reason, undefined, { images, markers });
}
