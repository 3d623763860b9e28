// The form of a reply in the engine's names. Used by the mappers of each protocol.
import type { GenerationRequest } from "@ingle/engine";
import type { ChatCompletionRequest } from "@ingle/protocol";

type FormatFields = Pick<ChatCompletionRequest, "grammar" | "json_schema" | "response_format">;

/** A checked request has at most one schema, or a grammar; the empty grammar is none. */
export function toResponseFormat({
  grammar = "",
  json_schema: ownSchema,
  response_format: format,
}: FormatFields): GenerationRequest["responseFormat"] {
  if (grammar !== "") return { type: "grammar", grammar };
  if (ownSchema !== undefined) return { type: "json_schema", schema: ownSchema };
  if (format?.type === "json_object") {
    const { schema = {} } = format;
    return Object.keys(schema).length === 0 ? { type: "json" } : { type: "json_schema", schema };
  }
  if (format?.type !== "json_schema") return undefined;
  const { schema, strict } = format.json_schema;
  return { type: "json_schema", schema, strict };
}
