// Reads the images of a request: loads their files (image-files.ts) and decodes their pixels.
import { decodeImages, EngineError, imageLimits, type Model, type RgbImage } from "@ingle/engine";
import type { UnreadImage } from "./content-parts.ts";
import { WireError } from "../wire-error.ts";
import { imageFiles, withParam, type ImageReading } from "./image-files.ts";

/** Claude Code looks for these words, and then sends the conversation without its images. */
const notProcessed = "Could not process image";

/**
 * The pixels of each image. Throws `image_not_supported` if the model does not read images, and `image_invalid` or
 * `payload_too_large` if one cannot be read.
 */
export async function readImages(
  named: readonly UnreadImage[],
  { info }: Pick<Model, "info">,
  reading: ImageReading,
): Promise<Map<UnreadImage, RgbImage>> {
  const [first] = named;
  if (first !== undefined && !info.readsImages) {
    const message = `${notProcessed}: this model reads only text. Remove the image, or use a model that reads images.`;
    throw new WireError("image_not_supported", message, { param: first.place });
  }
  const images = await decoded(named, reading);
  return new Map(
    images.flatMap((image, index) => {
      const of = named[index];
      return of === undefined ? [] : [[of, image]];
    }),
  );
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
