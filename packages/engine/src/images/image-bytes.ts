// Pictures as programs have them become bytes, within the limits.
import { open } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { EngineError } from "../errors.ts";
import { dataUrlBytes } from "./data-url.ts";
import { checkBytes } from "./image-limits.ts";
import type { ImageLimits } from "./image-limits.ts";

/** The bytes of a picture's file, a Blob with them, the path of the file, or a `file:` or `data:` URL. */
export type ImageSource = Uint8Array | ArrayBuffer | Blob | URL | string;

export interface ImageBytesOptions extends Pick<ImageLimits, "maxBytes"> {
  signal?: AbortSignal | undefined;
}

/**
 * The bytes of a picture. Texts are taken for paths, unless they begin with `data:`; so never hand on a text that came from
 * somebody else: `dataUrlBytes` is for those. Nothing is fetched from the network.
 * Throws `image_too_large`, `image_invalid` for a URL that is neither, and Node's error for a file that cannot be read.
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
  if (!(source instanceof URL)) return fileBytes(source, options);
  if (source.protocol === "file:") return fileBytes(fileURLToPath(source), options);
  const message = `Images are not fetched from ${source.protocol} URLs. Download the image and hand over its bytes.`;
  throw new EngineError("image_invalid", message);
}

async function fileBytes(path: string, options: ImageBytesOptions): Promise<Buffer> {
  await using file = await open(path);
  const stat = await file.stat();
  // Pipes and devices have no size beforehand, and may have no end.
  if (!stat.isFile()) throw new EngineError("image_invalid", `${path} is no file.`);
  checkBytes(stat.size, options);
  return file.readFile({ signal: options.signal });
}
