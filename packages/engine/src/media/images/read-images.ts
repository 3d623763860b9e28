// Reads and decodes the images of one request.
import { z } from "zod";

import { invalidRequest } from "../../base/errors.ts";
import { decodeImages, withIndex } from "./decode-image.ts";
import { imageBytes, ImageSource } from "./image-bytes.ts";
import { checkImages, type RgbImage } from "./image-limits.ts";

const ImageSources = z.union([z.array(ImageSource), ImageSource.transform((one) => [one])]);

/**
 * Reads and decodes one image or several, in order. Throws `invalid_request` for an invalid source, and as `imageBytes` and
 * `decodeImages`, with the image's index as `image` in the details.
 */
export async function readImages(
  images: ImageSource | readonly ImageSource[],
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<RgbImage[]> {
  const sources = ImageSources.safeParse(images);
  if (!sources.success) {
    throw invalidRequest(
      "images",
      "must be a path, a file: or data: URL, a Buffer or Uint8Array, or a Blob, or an array of those.",
      sources.error,
    );
  }
  checkImages(sources.data.length, {});
  const files: Uint8Array[] = [];
  for (const [image, source] of sources.data.entries()) {
    try {
      files.push(await imageBytes(source, { signal }));
    } catch (error) {
      throw withIndex(error, image);
    }
  }
  return decodeImages(files, { signal });
}
