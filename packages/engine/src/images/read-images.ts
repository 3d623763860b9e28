// The pictures of one request, from wherever the caller has them to their pixels. Used by generate().
import { z } from "zod";

import { EngineError } from "../errors.ts";
import { decodeImages, withPlace } from "./decode-image.ts";
import { imageBytes, ImageSource } from "./image-bytes.ts";
import { checkImages } from "./image-limits.ts";
import type { RgbImage } from "./rgb-image.ts";

const ImageSources = z.union([z.array(ImageSource), ImageSource.transform((one) => [one])]);

/**
 * Reads and decodes one picture or several, in their order. Throws `invalid_request` for what is no source of a picture, and
 * what `imageBytes` and `decodeImages` throw, with the picture's place among them as `image` in the details.
 */
export async function readImages(
  images: ImageSource | readonly ImageSource[],
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<RgbImage[]> {
  const sources = ImageSources.safeParse(images);
  if (!sources.success) {
    throw new EngineError(
      "invalid_request",
      "images: an image is a path, a file: or data: URL, a Buffer or Uint8Array, or a Blob; several are a list of those.",
      { cause: sources.error, details: { param: "images" } },
    );
  }
  checkImages(sources.data.length, {});
  const files: Uint8Array[] = [];
  for (const [image, source] of sources.data.entries()) {
    try {
      files.push(await imageBytes(source, { signal }));
    } catch (error) {
      throw withPlace(error, image);
    }
  }
  return decodeImages(files, { signal });
}
