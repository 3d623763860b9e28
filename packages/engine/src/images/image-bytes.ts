// Reads the bytes of an image from any source, within the limits.
import { readFile, stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { z } from "zod";

import { EngineError } from "../errors.ts";
import { dataUrlBytes } from "./data-url.ts";
import { checkBytes } from "./image-limits.ts";
import type { ImageLimits } from "./image-limits.ts";

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
  if (text.startsWith("data:")) return dataUrlBytes(text, options);
  const protocol = source instanceof URL ? source.protocol : urlPattern.exec(text)?.[0].toLowerCase();
  if (protocol === undefined) return fileBytes(text, options);
  if (protocol === "file:") return fileBytes(pathOf(text), options);
  const message = `Images are not fetched from ${protocol} URLs. Download the image and pass its bytes.`;
  throw new EngineError("image_invalid", message);
}

function pathOf(url: string): string {
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
