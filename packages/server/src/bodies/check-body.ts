// Parses a body and checks it by its schema. Small bodies are checked in place, others in a thread (body-workers.ts).
import { isAscii, isUtf8 } from "node:buffer";
import { firstIssue, type WireErrorCode } from "@ingle/protocol";
import type { FastifySchemaCompiler } from "fastify";
import { safeParse } from "secure-json-parse";
import { z } from "zod";
import { WireError } from "../wire-error.ts";
import { depthMax, isShapeError, measureShape, type JsonShape } from "@ingle/protocol/json-shape";

/** Why a body is refused, in a form that can be sent between threads. */
export interface Refusal {
  code: WireErrorCode;
  message: string;
  /** The field that is wrong. */
  param?: string | undefined;
}

export type CheckedBody = AcceptedBody | { refusal: Refusal };

interface AcceptedBody {
  value: unknown;
  heldBytes: number;
  /** Fields that the schema does not have, and that are therefore ignored. */
  unknownFields: readonly string[];
}

/** Maximum number of unknown fields that are named: more than a response header names. */
const unknownFieldsMax = 32;

/** The approximate overhead of a value besides its text. */
const bytesPerValue = 64;
const bytesPerNumber = 8;

/** Without a schema, the value is discarded. */
export function checkBody(bytes: Buffer, schema: z.ZodType | undefined): CheckedBody {
  if (bytes.length === 0) return refused("invalid_json", "The body is empty; send a JSON object.");
  if (!isUtf8(bytes)) return refused("invalid_request", "The body is not valid UTF-8; encode it as UTF-8.");
  const shape = measureShape(bytes);
  if (isShapeError(shape)) return refused(shape.code, shape.message);
  const text = bytes.toString("utf8");
  const value: unknown = safeParse(text);
  if (value === undefined) return refused("invalid_json", "The body is not valid JSON.");
  // `safeParse` also returns null for a key that could change a prototype.
  if (value === null && text.trim() !== "null") {
    const message = 'The body has a key "__proto__", or "prototype" within "constructor"; rename it.';
    return refused("invalid_request", message);
  }
  if (schema === undefined) return { value: undefined, heldBytes: 0, unknownFields: [] };
  const deep = [...(shape.deepFields ?? [])].find((name) => isKept(name, schema));
  if (deep !== undefined) return tooDeep(deep);
  return checkValue(value, schema, heldBytes(bytes, shape));
}

/** Checks a value that is already parsed. */
export function checkValue(value: unknown, schema: z.ZodType, held = 0): CheckedBody {
  const result = schema.safeParse(knownFields(value, schema));
  if (result.success)
    return { value: result.data, heldBytes: held, unknownFields: findUnknownFields(value, schema) };
  const { message, param } = firstIssue(result.error);
  return { refusal: { code: "invalid_request", message, param: param ?? undefined } };
}

/** Whether the schema has this field. */
function isKept(name: string, schema: z.ZodType): boolean {
  return !(schema instanceof z.ZodObject) || Object.hasOwn(schema.shape, name);
}

/** Drops fields that the schema does not have: there may be many. */
function knownFields(value: unknown, schema: z.ZodType): unknown {
  if (!(schema instanceof z.ZodObject) || !isJsonObject(value)) return value;
  const names = Object.keys(schema.shape).filter((name) => Object.hasOwn(value, name));
  return Object.fromEntries(names.map((name) => [name, Reflect.get(value, name)]));
}

/** The first names of fields that the schema does not have; a field that is null counts as absent. */
function findUnknownFields(value: unknown, schema: z.ZodType): string[] {
  if (!isJsonObject(value)) return [];
  const names = Object.keys(value).filter(
    (name) => !isKept(name, schema) && Reflect.get(value, name) !== null,
  );
  return names.slice(0, unknownFieldsMax);
}

function isJsonObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Texts with characters beyond ASCII take two bytes per character. */
function heldBytes(bytes: Buffer, { values, numbers }: JsonShape): number {
  const ofTexts = isAscii(bytes) ? bytes.length : 2 * bytes.length;
  return ofTexts + bytesPerValue * values + bytesPerNumber * numbers;
}

function tooDeep(field: string): CheckedBody {
  const what = field === "" ? "The body" : field;
  const message = `${what} is nested deeper than ${depthMax} levels; send it with fewer objects and arrays inside each other.`;
  return { refusal: { code: "invalid_request", message, param: field === "" ? undefined : field } };
}

function refused(code: WireErrorCode, message: string): CheckedBody {
  return { refusal: { code, message } };
}

/** plugins/bodies.ts checks bodies as it reads them; only a missing body is checked here, as if it were an empty object. */
export const zodValidator: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart }) => {
  return (data: unknown) => {
    const isBody = httpPart === "body";
    if (isBody && data !== undefined && data !== null) return { value: data };
    const checked = checkValue(isBody ? {} : data, schema);
    if (!("refusal" in checked)) return { value: checked.value };
    const { code, message, param } = checked.refusal;
    return { error: new WireError(code, message, { param }) };
  };
};
