// Reads a body of multipart/form-data with a file, within limits that are checked before it is parsed.
import type { Readable } from "node:stream";
import { audioLimits } from "@ingle/engine";
import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import { WireError } from "../wire-error.ts";
import { checkValue } from "./check-body.ts";
import { boundaryIn, invalidForm, partsMax } from "./form-parts.ts";
import { receiveBody } from "./receive-body.ts";

/** Bytes of a form besides its file: the fields, and the lines between the parts. */
const fieldsBytesMax = 256 * 1024;
/** The largest file that a form may have, and its fields. */
const formBytesMax = audioLimits.maxBytes + fieldsBytesMax;

/**
 * Returns the fields, checked by the schema: texts, and files as bytes. Of fields with the same name, the last one counts;
 * the brackets of a list's name are left out. Throws what `receiveBody` throws, and `invalid_request`.
 */
export async function readForm(
  request: FastifyRequest,
  payload: Readable,
  schema: z.ZodType,
): Promise<unknown> {
  const received = await receiveBody(request, payload, { bytesMax: formBytesMax, tooLarge });
  const body = Buffer.concat(received.take());
  const checked = checkValue(await parseFields(body, request.headers["content-type"] ?? ""), schema);
  if ("refusal" in checked) {
    const { code, message, param } = checked.refusal;
    throw new WireError(code, message, { param });
  }
  request.ignore(checked.unknownFields);
  return checked.value;
}

function tooLarge(): WireError {
  const message = `The form is larger than ${formBytesMax} bytes. Compress the file as FLAC or MP3, or send a part of it.`;
  return new WireError("payload_too_large", message, { param: "file" });
}

async function parseFields(body: Buffer, contentType: string): Promise<object> {
  const boundary = boundaryIn(contentType);
  if (countAtMost(body, `--${boundary}`, partsMax + 2) > partsMax + 1)
    throw invalidForm(`it has more than ${partsMax} parts`);
  let form: FormData;
  try {
    form = await new Response(body, { headers: { "content-type": contentType } }).formData();
  } catch (cause) {
    throw invalidForm("it is incomplete or damaged", cause);
  }
  const fields = new Map<string, string | Uint8Array>();
  for (const [name, value] of form.entries())
    fields.set(
      name.replace(/\[\]$/, ""),
      typeof value === "string" ? value : new Uint8Array(await value.arrayBuffer()),
    );
  return Object.fromEntries(fields);
}

/** How often a text occurs in the bytes; counting stops at `max`. */
function countAtMost(bytes: Buffer, text: string, max: number): number {
  let count = 0;
  for (let at = bytes.indexOf(text); at >= 0 && count < max; at = bytes.indexOf(text, at + 1)) count += 1;
  return count;
}
