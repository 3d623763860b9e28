// Reads the images of a request: loads their files (image-files.ts) and decodes their pixels.
import {
  decodeImages,
  EngineError,
  imageLimits,
  type ContentPart,
  type Message,
  type Model,
  type RgbImage,
} from "@ingle/engine";
import type { UnreadImage, UnreadMessage } from "../protocols/content-parts.ts";
import { WireError } from "../wire-error.ts";
import { imageFiles, withParam, type ImageReading } from "./image-files.ts";

/**
 * Returns the request with the engine's messages. Throws `image_not_supported` if the model does not read images, and
 * `image_invalid` or `payload_too_large` if an image cannot be read; each error names the field of the image.
 */
export async function readImages<Request extends { messages: readonly UnreadMessage[] }>(
  request: Request,
  { info }: Pick<Model, "info">,
  reading: ImageReading,
): Promise<Omit<Request, "messages"> & { messages: Message[] }> {
  const { messages, ...rest } = request;
  const named = messages.flatMap(({ content }) =>
    typeof content === "string" ? [] : content.filter((part) => part.type === "image"),
  );
  const [first] = named;
  if (first !== undefined && !info.readsImages) {
    const message = "This model reads only text. Remove the image, or use a model that reads images.";
    throw new WireError("image_not_supported", message, { param: first.place });
  }
  const images = await decoded(named, reading);
  const imageOf = new Map(named.map((image, index) => [image, images[index]]));
  return { ...rest, messages: messages.map((message) => withPixels(message, imageOf)) };
}

async function decoded(named: readonly UnreadImage[], reading: ImageReading): Promise<RgbImage[]> {
  if (named.length === 0) return [];
  if (named.length > imageLimits.maxImages) {
    const message = `The request has ${named.length} images; the maximum is ${imageLimits.maxImages}.`;
    throw new WireError("payload_too_large", message, { param: named[imageLimits.maxImages]?.param });
  }
  const files = await imageFiles(named, reading);
  try {
    return await decodeImages(files, { signal: reading.signal });
  } catch (error) {
    const index = EngineError.is(error) ? error.details["image"] : undefined;
    throw withParam(error, typeof index === "number" ? named[index]?.param : undefined);
  }
}

function withPixels(
  message: UnreadMessage,
  imageOf: ReadonlyMap<UnreadImage, RgbImage | undefined>,
): Message {
  const { content } = message;
  if (typeof content === "string") return { ...message, content };
  const parts = content.flatMap((part): ContentPart[] => {
    if (part.type === "text") return [part];
    const image = imageOf.get(part);
    return image === undefined ? [] : [{ type: "image", image }];
  });
  return { ...message, content: parts };
}
