// The form of a reply in the engine's names. Used by the mappers of each protocol.
import type { GenerationRequest } from "@ingle/engine";
import type { ChatCompletionRequest } from "@ingle/protocol";

type FormatFields = Pick<ChatCompletionRequest, "grammar" | "response_format">;

/** A checked request has at most one of the two; the empty grammar is none. */
export function toResponseFormat({
  grammar = "",
  response_format: format,
}: FormatFields): GenerationRequest["responseFormat"] {
  if (grammar !== "") return { type: "grammar", grammar };
  if (format?.type === "json_object") return { type: "json" };
  if (format?.type !== "json_schema") return undefined;
  const { schema, strict } = format.json_schema;
  return { type: "json_schema", schema, strict };
}
