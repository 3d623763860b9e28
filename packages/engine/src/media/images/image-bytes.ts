// Reads the bytes of an image from any source, within the limits. `data:` URLs (RFC 2397) hold base64, in lines or not.
// The format is detected from the bytes, whatever the MIME type.
import { checkBytes, type ImageLimits } from "./image-limits.ts";
import { readFile, stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { z } from "zod";

import { readBase64 } from "../../base/base64.ts";
import { EngineError } from "../../base/errors.ts";

/** The bytes of an image file, a Blob of them, the path of the file, or a `file:` or `data:` URL. */
export const ImageSource = z.union([
  z.string().min(1),
  z.custom<Uint8Array | ArrayBuffer | Blob | URL>(
    (value) => [Uint8Array, ArrayBuffer, Blob, URL].some((kind) => value instanceof kind),
    "a path, a file: or data: URL, bytes or a Blob",
  ),
]);
export type ImageSource = z.infer<typeof ImageSource>;

export interface ImageBytesOptions extends Pick<ImageLimits, "maxBytes"> {
  signal?: AbortSignal | undefined;
}

/** A text that starts like this is not a path. */
const urlPattern = /^(file|https?):/i;

/**
 * The bytes of an image. A text is a path unless it starts with `data:`, `file:` or `http:`, so never pass a text from an
 * untrusted client: use `dataUrlBytes` for those. Nothing is fetched from the network.
 * Throws `image_too_large`, and `image_invalid` for other URLs and for files that are missing or cannot be read.
 */
export async function imageBytes(source: ImageSource, options: ImageBytesOptions = {}): Promise<Uint8Array> {
  options.signal?.throwIfAborted();
  if (source instanceof Uint8Array) return source;
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (source instanceof Blob) {
    checkBytes(source.size, options);
    return new Uint8Array(await source.arrayBuffer());
  }
  const text = String(source);
  if (/^data:/i.test(text)) return dataUrlBytes(text, options);
  const protocol = source instanceof URL ? source.protocol : urlPattern.exec(text)?.[0].toLowerCase();
  if (protocol === undefined) return fileBytes(text, options);
  if (protocol === "file:") return fileBytes(localPath(text), options);
  const message = `Images are not fetched from ${protocol} URLs. Download the image and pass its bytes.`;
  throw new EngineError("image_invalid", message);
}

function localPath(url: string): string {
  try {
    return fileURLToPath(url);
  } catch (cause) {
    throw new EngineError("image_invalid", `${url} is not a file on this machine.`, { cause });
  }
}

async function fileBytes(path: string, { signal, ...limits }: ImageBytesOptions): Promise<Buffer> {
  try {
    const found = await stat(path);
    // The size of pipes and devices is unknown, and they may be endless.
    if (!found.isFile()) throw new EngineError("image_invalid", `${path} is not a regular file.`);
    checkBytes(found.size, limits);
    return await readFile(path, { signal });
  } catch (cause) {
    signal?.throwIfAborted();
    if (EngineError.is(cause)) throw cause;
    throw new EngineError("image_invalid", `There is no image at ${path}, or it cannot be read.`, { cause });
  }
}

const prefixPattern = /^data:[^,]*;base64,/i;
/** The longest prefix, with a character set or a name. */
const prefixLengthMax = 256;

/**
 * The bytes of a URL like `data:image/png;base64,iVBORw0…`. Throws `image_invalid` for any other text, and
 * `image_too_large` for more than `maxBytes`, before anything is decoded.
 */
export function dataUrlBytes(url: string, limits: Pick<ImageLimits, "maxBytes"> = {}): Buffer {
  const prefix = prefixPattern.exec(url.slice(0, prefixLengthMax))?.[0];
  if (prefix === undefined)
    throw new EngineError("image_invalid", "An image must be a URL like data:image/png;base64,….");
  const { bytes, decode } = readBase64(url, prefix.length);
  checkBytes(bytes, limits);
  const decoded = decode();
  if (decoded === undefined)
    throw new EngineError("image_invalid", "The data of an image's URL is not valid base64.");
  return decoded;
}
