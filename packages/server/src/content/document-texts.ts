// The texts of a request's documents: text files as they are, PDFs by pdf-text.ts.
import { isUtf8 } from "node:buffer";
import { textLengthMax } from "@ingle/protocol";
import type { UnreadDocument } from "./content-parts.ts";
import { WireError } from "../wire-error.ts";
import { pdfText } from "./pdf-text.ts";

/** Maximum number of documents per request. */
const documentsMax = 64;

/**
 * The text of each document, after its name. Throws `document_invalid` if one cannot be read, `payload_too_large` if there are too
 * many or their texts are too long together, and the signal's reason.
 */
export async function documentTexts(
  documents: readonly UnreadDocument[],
  signal: AbortSignal,
): Promise<Map<UnreadDocument, string>> {
  const texts = new Map<UnreadDocument, string>();
  let length = 0;
  for (const document of documents) {
    const { param, name = "" } = document;
    if (texts.size >= documentsMax)
      throw tooLarge(`The request has ${documents.length} documents; the maximum is ${documentsMax}.`, param);
    const text = await readText(document, signal);
    length += text.length;
    if (length > textLengthMax)
      throw tooLarge(`The text of the documents is longer than ${textLengthMax} characters.`, param);
    texts.set(document, name === "" ? text : `${name}\n${text}`);
  }
  return texts;
}

async function readText({ data, param }: UnreadDocument, signal: AbortSignal): Promise<string> {
  const bytes = decodeData(data, param);
  // Readers of PDF accept a header that other bytes precede.
  const isPdf = bytes.subarray(0, 1024).includes("%PDF-");
  if (isPdf) return await pdfText(bytes, { param, signal });
  if (!isUtf8(bytes) || bytes.includes(0)) {
    const message = "A document must be a PDF, or text in UTF-8.";
    throw new WireError("document_invalid", message, { param });
  }
  return bytes.toString("utf8").replace(/^\uFEFF/, "");
}

const base64Pattern = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;
/** The longest prefix of a data URL, with a character set. */
const prefixLengthMax = 256;

function decodeData(data: string, param: string): Buffer {
  const prefix = /^data:[^,]*;base64,/i.exec(data.slice(0, prefixLengthMax))?.[0] ?? "";
  const base64 = data.slice(prefix.length);
  if (base64 === "" || !base64Pattern.test(base64)) {
    const message = "The document is neither base64 nor a URL like data:application/pdf;base64,….";
    throw new WireError("document_invalid", message, { param });
  }
  return Buffer.from(base64, "base64");
}

function tooLarge(message: string, param: string): WireError {
  return new WireError("payload_too_large", message, { param });
}
