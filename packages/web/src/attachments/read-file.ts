// Turns a file that the user picked, dropped or pasted into an attachment, or into the reason why it cannot be one.
import { newId } from "../conversations/chat-storage.ts";
import type { Attachment } from "../conversations/conversation.ts";

/** The server's limit for an image. */
const imageBytesMax = 20 * 1024 * 1024;

/** Far more than any context holds, and far less than the server's limit for a request. */
const textBytesMax = 4 * 1024 * 1024;

/** Of PDFs and Word documents, which may have images. */
const documentBytesMax = 64 * 1024 * 1024;

const docxType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"];

/** What the file dialog offers. Any text file can still be dropped. */
export const acceptedFiles = [
  ...imageTypes,
  "application/pdf",
  docxType,
  ".docx",
  "text/*",
  ".md,.json,.csv,.xml,.yaml,.toml,.log,.sql",
].join(",");

/** Why a file cannot be attached; keys of `chatText.fileProblems`. */
type FileProblem =
  | "tooLarge"
  | "notText"
  | "empty"
  | "noVision"
  | "unreadable"
  | "pdfWithoutText"
  | "withoutText";

type ReadFile = { attachment: Attachment; image: Blob | null; problem: null } | { problem: FileProblem };

/** Reads a file. Images are rejected unless the chosen models can read them. */
export async function readFile(file: File, { readsImages }: { readsImages: boolean }): Promise<ReadFile> {
  if (file.size === 0) return { problem: "empty" };
  if (imageTypes.includes(file.type)) return readImage(file, readsImages);
  if (file.type === "application/pdf" || /\.pdf$/i.test(file.name))
    return readDocument(file, pdfText, "pdfWithoutText");
  if (file.type === docxType || /\.docx$/i.test(file.name))
    return readDocument(file, docxText, "withoutText");
  if (file.size > textBytesMax) return { problem: "tooLarge" };
  const text = decodeText(await file.arrayBuffer());
  return text === undefined ? { problem: "notText" } : textAttachment(file, text);
}

/**
 * Decodes UTF-8, UTF-16 with a byte order mark, or else the encoding of older Western programs (Windows-1252, which contains
 * Latin-1); undefined for what is no text.
 */
export function decodeText(bytes: ArrayBuffer): string | undefined {
  const [first, second] = new Uint8Array(bytes, 0, Math.min(2, bytes.byteLength));
  const encoding =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text.replaceAll("\r\n", "\n");
  } catch {
    // TypeError: not valid in this encoding.
    return encoding === "utf-8" ? decodeWestern(bytes) : undefined;
  }
}

/** Every byte is a character there, so what is no text has to be recognized: by control characters, and by too few letters. */
function decodeWestern(bytes: ArrayBuffer): string | undefined {
  const text = new TextDecoder("windows-1252").decode(bytes);
  // Tab, line feed, form feed and carriage return are in texts. Unused bytes are decoded to the controls after DEL.
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  if (/[\0-\u0008\u000b\u000e-\u001f\u007f-\u009f]/.test(text)) return undefined;
  const others = text.match(/[\u0080-\uffff]/g)?.length ?? 0;
  return others > text.length * othersShareMax ? undefined : text.replaceAll("\r\n", "\n");
}

/** A short word like "Grüße" has two fifths; texts in other alphabets, which would be decoded to wrong letters, have more. */
const othersShareMax = 0.5;

function readImage(file: File, readsImages: boolean): ReadFile {
  if (!readsImages) return { problem: "noVision" };
  if (file.size > imageBytesMax) return { problem: "tooLarge" };
  const { name, type, size } = file;
  return { attachment: { kind: "image", id: newId(), name, type, bytes: size }, image: file, problem: null };
}

async function pdfText(bytes: ArrayBuffer): Promise<string | undefined> {
  return (await import("./pdf-text.ts")).pdfText(bytes);
}

async function docxText(bytes: ArrayBuffer): Promise<string | undefined> {
  return (await import("./docx-text.ts")).docxText(bytes);
}

async function readDocument(
  file: File,
  extractText: (bytes: ArrayBuffer) => Promise<string | undefined>,
  withoutText: FileProblem,
): Promise<ReadFile> {
  if (file.size > documentBytesMax) return { problem: "tooLarge" };
  const text = await extractText(await file.arrayBuffer());
  if (text === undefined) return { problem: "unreadable" };
  return text.trim() === "" ? { problem: withoutText } : textAttachment(file, text);
}

function textAttachment({ name, size }: File, text: string): ReadFile {
  return { attachment: { kind: "text", id: newId(), name, bytes: size, text }, image: null, problem: null };
}
