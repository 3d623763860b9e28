// Turns an image into the data URL that a message takes.

/** The bytes of an image file, or a Blob of them, such as a File chosen by the user. */
export type ImageSource = Blob | Uint8Array | ArrayBuffer;

/** Bytes that are converted at a time: JavaScript engines limit the number of arguments. */
const pieceBytes = 0x8000;

/** The first bytes of the common formats. The server detects the format itself and refuses others. */
const signatures: readonly (readonly [type: string, signature: readonly number[]])[] = [
  ["image/png", [0x89, 0x50, 0x4e, 0x47]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
  ["image/gif", [0x47, 0x49, 0x46, 0x38]],
  ["image/bmp", [0x42, 0x4d]],
];
/** WebP is one of many RIFF formats, so it is not recognized by its first bytes. */
const typeDefault = "image/webp";

/**
 * A `data:` URL of an image: `{ type: "image_url", image_url: { url: await imageUrl(file) } }` in a chat, and
 * `{ type: "input_image", image_url: await imageUrl(file) }` in a response. In Node, pass the result of `readFile`.
 */
export async function imageUrl(image: ImageSource): Promise<string> {
  const bytes = await readImage(image);
  const type = signatures.find(([, signature]) => signature.every((byte, at) => bytes[at] === byte))?.[0];
  let binary = "";
  for (let at = 0; at < bytes.length; at += pieceBytes)
    binary += String.fromCharCode(...bytes.subarray(at, at + pieceBytes));
  return `data:${type ?? typeDefault};base64,${btoa(binary)}`;
}

async function readImage(image: ImageSource): Promise<Uint8Array> {
  if (image instanceof Uint8Array) return image;
  return new Uint8Array(image instanceof ArrayBuffer ? image : await image.arrayBuffer());
}
