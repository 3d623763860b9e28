// Splits a body of multipart/form-data (RFC 7578) into its parts as it arrives, so that a file in it is never in memory as a whole.
import { WireError } from "../wire-error.ts";

/** Maximum number of parts of a form: more than any client has fields. */
export const partsMax = 32;
/** Maximum length of the line between parts (RFC 2046). */
const boundaryPattern = /boundary="?([^";\s]{1,70})"?/i;
/** Maximum size of the headers of a part in bytes. */
const headBytesMax = 8 * 1024;

const lineBreak = "\r\n";
const headEnd = "\r\n\r\n";

/** The line between the parts, from a Content-Type. Throws `invalid_request`. */
export function boundaryIn(contentType: string): string {
  const boundary = boundaryPattern.exec(contentType)?.[1];
  if (boundary === undefined) throw invalidForm("its Content-Type has no boundary");
  return boundary;
}

export function invalidForm(reason: string, cause?: unknown): WireError {
  const message = `The body is not a form of multipart/form-data: ${reason}.`;
  return new WireError("invalid_request", message, cause === undefined ? {} : { cause });
}

/** What the headers of a part tell. */
export interface PartHead {
  /** The name of the field, without the brackets of lists and of fields inside it. */
  readonly name: string;
  /** The name of a file; undefined for a text. */
  readonly fileName: string | undefined;
}

/** A piece of the content of the part that began last. */
type FormPiece = { readonly head: PartHead } | { readonly content: Buffer };

/** Yields the head of each part, then its content in pieces. Throws `invalid_request` for what is not a whole form. */
export async function* splitForm(
  source: AsyncIterable<Uint8Array>,
  boundary: string,
): AsyncGenerator<FormPiece, void, undefined> {
  const delimiter = `${lineBreak}--${boundary}`;
  let bytes = Buffer.from(lineBreak); // the first delimiter has none before it
  let place: "before" | "delimiter" | "head" | "content" | "after" = "before";
  let parts = 0;
  for await (const chunk of source) {
    if (place === "after") continue; // what follows the form is ignored
    bytes = Buffer.concat([bytes, chunk]);
    for (let isMore = true; isMore;) {
      isMore = false;
      if (place === "before" || place === "content") {
        const at = bytes.indexOf(delimiter);
        const end = at < 0 ? Math.max(0, bytes.length - delimiter.length) : at;
        if (place === "content" && end > 0) yield { content: bytes.subarray(0, end) };
        bytes = bytes.subarray(at < 0 ? end : end + delimiter.length);
        if (at >= 0) [place, isMore] = ["delimiter", true];
      } else if (place === "delimiter" && bytes.length >= 2) {
        [place, isMore] = isEnd(bytes) ? ["after", false] : ["head", true];
      } else if (place === "head") {
        const at = bytes.indexOf(headEnd);
        if ((at < 0 ? bytes.length : at) > headBytesMax)
          throw invalidForm("a part has headers that are too long");
        if (at < 0) continue;
        parts += 1;
        if (parts > partsMax) throw invalidForm(`it has more than ${partsMax} parts`);
        yield { head: parseHead(bytes.subarray(0, at).toString("utf8")) };
        bytes = bytes.subarray(at + headEnd.length);
        [place, isMore] = ["content", true];
      }
    }
  }
  if (place !== "after") throw invalidForm("it is incomplete or damaged");
}

function isEnd(bytes: Buffer): boolean {
  return bytes[0] === 0x2d && bytes[1] === 0x2d; // "--"
}

function parseHead(text: string): PartHead {
  const disposition = /^content-disposition:(.*)$/im.exec(text)?.[1] ?? "";
  const name = /;\s*name="([^"]*)"/i.exec(disposition)?.[1] ?? /;\s*name=([^;"\s]+)/i.exec(disposition)?.[1];
  if (name === undefined) throw invalidForm("a part has no name");
  const fileName = /;\s*filename="([^"]*)"/i.exec(disposition)?.[1];
  return { name: name.replace(/\[.*$/s, ""), fileName };
}
