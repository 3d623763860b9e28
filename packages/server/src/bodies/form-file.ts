// Receives a form whose file is written to disk while it arrives: it may be larger than what a server wants to hold in memory.
import { open, rm } from "node:fs/promises";
import type { Readable } from "node:stream";
import { isDiskFull } from "@ingle/engine";
import type { ReceivedFile } from "@ingle/protocol";
import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import { WireError } from "../wire-error.ts";
import { checkValue } from "./check-body.ts";
import { boundaryIn, invalidForm, splitForm, type PartHead } from "./form-parts.ts";

/** Bytes of all texts of a form together. */
const textsBytesMax = 64 * 1024;
/** Bytes of a form besides its file: the texts, and the lines between the parts. */
const besidesBytesMax = 256 * 1024;
/** Bytes that are in memory at a time. */
const heldBytes = 256 * 1024;

interface FileForm {
  /** Where its file is written to. It is removed when the request ends, unless it was moved away. */
  readonly path: string;
  /** Maximum size of the file in bytes. */
  readonly bytesMax: number;
  /** Checks the fields: texts, and the file as a `ReceivedFile`. */
  readonly schema: z.ZodType;
}

/**
 * Returns the fields, checked by the schema. A form has one file; of texts with the same name, the last one counts. Throws
 * `invalid_request`, `payload_too_large`, `disk_full`, `unsupported_media_type` for a compressed form, and the client's abort.
 */
export async function receiveFileForm(
  request: FastifyRequest,
  payload: Readable,
  { path, bytesMax, schema }: FileForm,
): Promise<unknown> {
  const { headers } = request;
  request.holdBody(heldBytes);
  if (headers["content-encoding"] !== undefined)
    throw new WireError("unsupported_media_type", "A form with a file has to be sent without compression.");
  if (Number(headers["content-length"] ?? 0) > bytesMax + besidesBytesMax) throw tooLarge(bytesMax);
  request.atEnd(() => void rm(path, { force: true }).catch(() => {})); // removed with the others at the next start
  const fields = await writeForm(payload, boundaryIn(headers["content-type"] ?? ""), { path, bytesMax });
  const checked = checkValue(fields, schema);
  if ("refusal" in checked) {
    const { code, message, param } = checked.refusal;
    throw new WireError(code, message, { param });
  }
  request.ignore(checked.unknownFields);
  return checked.value;
}

async function writeForm(
  payload: Readable,
  boundary: string,
  { path, bytesMax }: Pick<FileForm, "path" | "bytesMax">,
): Promise<object> {
  const texts = new Map<string, Buffer[]>();
  let textBytes = 0;
  let file: ({ field: string } & ReceivedFile) | undefined;
  let head: PartHead | undefined;
  const handle = await open(path, "wx", 0o600);
  try {
    // A stream that is left early must not be destroyed: its client still gets the error.
    for await (const piece of splitForm(payload.iterator({ destroyOnReturn: false }), boundary)) {
      if ("head" in piece) {
        head = piece.head;
        const { name, fileName } = head;
        if (fileName === undefined) texts.set(name, []);
        else if (file === undefined) file = { field: name, path, name: fileName, bytes: 0 };
        else throw invalidForm("it has more than one file");
      } else if (head?.fileName === undefined) {
        textBytes += piece.content.length;
        if (textBytes > textsBytesMax) throw invalidForm(`its texts have more than ${textsBytesMax} bytes`);
        texts.get(head?.name ?? "")?.push(piece.content);
      } else if (file !== undefined) {
        file = { ...file, bytes: file.bytes + piece.content.length };
        if (file.bytes > bytesMax) throw tooLarge(bytesMax);
        await handle.appendFile(piece.content);
      }
    }
    await handle.sync();
  } catch (error) {
    throw isDiskFull(error) ? diskFull(error) : error;
  } finally {
    await handle.close();
  }
  const values = [...texts].map(([name, pieces]) => [name, Buffer.concat(pieces).toString("utf8")] as const);
  const { field, ...received } = file ?? { field: undefined };
  return Object.fromEntries(field === undefined ? values : [...values, [field, received] as const]);
}

function tooLarge(bytesMax: number): WireError {
  const message = `The file is larger than ${bytesMax} bytes. Split it into several files.`;
  return new WireError("payload_too_large", message, { param: "file" });
}

function diskFull(cause: unknown): WireError {
  return new WireError("disk_full", "The disk of this server is full. Free some space, or delete files.", {
    cause,
  });
}
