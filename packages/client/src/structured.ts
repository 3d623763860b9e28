// Structured replies: converts a schema to a `response_format`, and a complete reply to a value.
import type { ChatCompletion, ChatCompletionBody } from "@ingle/protocol";

import { parseJson } from "./response-body.ts";
import type { StreamedCompletion } from "./chat-stream.ts";
import { ParseError } from "./errors.ts";
import { check, toJsonSchema } from "./schema.ts";
import type { StandardSchema, ValueSchema } from "./schema.ts";

export interface FormatOptions {
  /** The name of the value; some servers show it to the model. Default: `reply`. */
  name?: string | undefined;
  /** Refuses the request if the schema has keywords that the server cannot enforce. Default: they are ignored. */
  strict?: boolean | undefined;
}

/** The `response_format` that constrains a reply to JSON of the schema. */
export function jsonFormat(
  schema: ValueSchema<unknown>,
  { name = "reply", strict }: FormatOptions = {},
): NonNullable<ChatCompletionBody["response_format"]> {
  return { type: "json_schema", json_schema: { name, schema: toJsonSchema(schema), strict } };
}

/**
 * The value in the first choice of a reply, checked by the schema. Rejects with a `ParseError`, which has the text, if the
 * reply does not match.
 */
export async function parseReply<Value>(
  { choices: [first] }: ChatCompletion | StreamedCompletion,
  schema: StandardSchema<Value>,
): Promise<Value> {
  const text = first?.message.content ?? "";
  const json = parseJson(text);
  // A truncated number is still a number; any other truncated value is invalid JSON.
  if (first?.finish_reason === "length" && (json === undefined || typeof json === "number")) {
    const message = `the reply was cut after ${text.length} characters: raise max_tokens`;
    throw new ParseError(message, { code: "reply_cut", text });
  }
  if (json === undefined) {
    const message = "the reply is not valid JSON; did the request have this schema as response_format?";
    throw new ParseError(message, { code: "reply_not_json", text });
  }
  const checked = await check(schema, json);
  if ("value" in checked) return checked.value;
  const message = `the reply does not match the schema: ${checked.sentence}`;
  throw new ParseError(message, { code: "reply_mismatch", text, issues: checked.issues });
}
