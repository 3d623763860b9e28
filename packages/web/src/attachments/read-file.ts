// A file that somebody chose, dropped or pasted becomes an attachment, or a reason why it cannot.
import { newId, type Attachment } from "../chats/conversation.ts";

/** The server's own limit of an image. */
const imageBytesMax = 20 * 1024 * 1024;

/** Far more than any context holds, far less than a message may have. */
const textBytesMax = 4 * 1024 * 1024;

const pdfBytesMax = 64 * 1024 * 1024;

const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"];

/** What the file dialog offers; anything that is text can be dropped all the same. */
export const acceptedFiles = [
  ...imageTypes,
  "application/pdf",
  "text/*",
  ".md,.json,.csv,.xml,.yaml,.toml,.log,.sql",
].join(",");

/** Why a file cannot be attached: the texts of the page have a sentence for each. */
export type FileProblem = "tooLarge" | "notText" | "empty" | "noVision" | "pdfUnreadable" | "pdfWithoutText";

export type ReadFile =
  | { attachment: Attachment; image: Blob | null; problem: null }
  | { problem: FileProblem };

/** Reads a file. Images are refused where no model could see them: `canSee` is false. */
export async function readFile(file: File, { canSee }: { canSee: boolean }): Promise<ReadFile> {
  if (file.size === 0) return { problem: "empty" };
  if (imageTypes.includes(file.type)) return readImage(file, canSee);
  if (file.type === "application/pdf" || /\.pdf$/i.test(file.name)) return readPdf(file);
  if (file.size > textBytesMax) return { problem: "tooLarge" };
  const text = decodeText(await file.arrayBuffer());
  return text === undefined ? { problem: "notText" } : textAttachment(file, text);
}

/** The text of bytes that are UTF-8 or UTF-16 with its mark; undefined for anything else. */
export function decodeText(bytes: ArrayBuffer): string | undefined {
  const [first, second] = new Uint8Array(bytes, 0, Math.min(2, bytes.byteLength));
  const encoding =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text.replaceAll("\r\n", "\n");
  } catch {
    // A TypeError: these bytes are no text of that encoding.
    return undefined;
  }
}

function readImage(file: File, canSee: boolean): ReadFile {
  if (!canSee) return { problem: "noVision" };
  if (file.size > imageBytesMax) return { problem: "tooLarge" };
  const { name, type, size } = file;
  return { attachment: { kind: "image", id: newId(), name, type, bytes: size }, image: file, problem: null };
}

async function readPdf(file: File): Promise<ReadFile> {
  if (file.size > pdfBytesMax) return { problem: "tooLarge" };
  const { pdfText } = await import("./pdf-text.ts");
  const text = await pdfText(await file.arrayBuffer());
  if (text === undefined) return { problem: "pdfUnreadable" };
  return text.trim() === "" ? { problem: "pdfWithoutText" } : textAttachment(file, text);
}

function textAttachment({ name, size }: File, text: string): ReadFile {
  return { attachment: { kind: "text", id: newId(), name, bytes: size, text }, image: null, problem: null };
}
