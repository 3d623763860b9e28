// Replies that are values: a schema as `response_format`, and a whole reply read back by it. Used by chat.ts.
import type { ChatCompletion, ChatCompletionBody } from "@ingle/protocol";

import { parseJson } from "./answer.ts";
import type { StreamedCompletion } from "./chat-reply.ts";
import { ParseError } from "./errors.ts";
import { check, jsonSchemaOf } from "./schema.ts";
import type { StandardSchema, ValueSchema } from "./schema.ts";

/** What a server may be told of a schema beside the schema. */
export interface FormatOptions {
  /** What the value is; some servers show it to the model. Default: `reply`. */
  name?: string | undefined;
  /** Refuses the request when the schema has keywords that the server cannot enforce. Default: they are passed over. */
  strict?: boolean | undefined;
}

/** The `response_format` that holds a reply's text to JSON of the schema. */
export function jsonFormat(
  schema: ValueSchema<unknown>,
  { name = "reply", strict }: FormatOptions = {},
): NonNullable<ChatCompletionBody["response_format"]> {
  return { type: "json_schema", json_schema: { name, schema: jsonSchemaOf(schema), strict } };
}

/**
 * The value that the first choice of a reply holds, checked by the schema. A reply that is no such value rejects with a
 * `ParseError`, which has its text.
 */
export async function parseReply<Value>(
  { choices: [first] }: ChatCompletion | StreamedCompletion,
  schema: StandardSchema<Value>,
): Promise<Value> {
  const text = first?.message.content ?? "";
  const json = parseJson(text);
  // The beginning of a number is a number; of anything else, it is no JSON.
  if (first?.finish_reason === "length" && (json === undefined || typeof json === "number")) {
    const message = `the reply was cut after ${text.length} characters: raise max_tokens`;
    throw new ParseError(message, { code: "reply_cut", text });
  }
  if (json === undefined) {
    const message = "the reply is no JSON; was it asked for with this schema as response_format?";
    throw new ParseError(message, { code: "reply_not_json", text });
  }
  const checked = await check(schema, json);
  if ("value" in checked) return checked.value;
  const message = `the reply does not fit the schema: ${checked.sentence}`;
  throw new ParseError(message, { code: "reply_mismatch", text, issues: checked.issues });
}
