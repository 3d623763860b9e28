// An image as a program has it becomes the URL that a message takes: everything travels inside of the request.

/** The bytes of an image's file, or a Blob with them, such as a File that somebody has chosen. */
export type ImageSource = Blob | Uint8Array | ArrayBuffer;

/** Bytes that are made into text at a time: some engines take no more arguments. */
const pieceBytes = 0x8000;

/** What the common formats begin with. The server looks at the bytes by itself; others are refused there. */
const beginnings: readonly (readonly [type: string, beginning: readonly number[]])[] = [
  ["image/png", [0x89, 0x50, 0x4e, 0x47]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
  ["image/gif", [0x47, 0x49, 0x46, 0x38]],
  ["image/bmp", [0x42, 0x4d]],
];
/** RIFF, of which WebP is the one that shows pictures. */
const typeDefault = "image/webp";

/**
 * A `data:` URL of an image: `{ type: "image_url", image_url: { url: await imageUrl(file) } }` in a chat, and
 * `{ type: "input_image", image_url: await imageUrl(file) }` in a response. In Node, hand over what `readFile` gave.
 */
export async function imageUrl(image: ImageSource): Promise<string> {
  const bytes = await bytesOf(image);
  const type = beginnings.find(([, beginning]) => beginning.every((byte, at) => bytes[at] === byte))?.[0];
  let binary = "";
  for (let at = 0; at < bytes.length; at += pieceBytes)
    binary += String.fromCharCode(...bytes.subarray(at, at + pieceBytes));
  return `data:${type ?? typeDefault};base64,${btoa(binary)}`;
}

async function bytesOf(image: ImageSource): Promise<Uint8Array> {
  if (image instanceof Uint8Array) return image;
  return new Uint8Array(image instanceof ArrayBuffer ? image : await image.arrayBuffer());
}
