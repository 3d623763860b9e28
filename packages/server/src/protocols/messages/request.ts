// A checked request in Anthropic's shape in the engine's names. Used by routes/messages.ts.
import type { GenerationRequest } from "@ingle/engine";
import { isCustomTool, type CountTokensRequest, type MessagesRequest } from "@ingle/protocol";
import type { UnreadMessage, UnreadRequest } from "../content-parts.ts";
import { toThinking } from "../thinking.ts";
import { toSampling } from "../engine-fields.ts";
import type { VariantName } from "../../variants.ts";
import { WireError } from "../../wire-error.ts";
import { hasBillingLine, toMessages } from "./messages.ts";

/** The request's names of fields that the engine may find wrong. */
export const fieldNames = { responseFormat: "output_config.format", toolChoice: "tool_choice" };

/** Fields that are absent stay absent: their defaults are the engine's. Throws what `toPromptRequest` throws. */
export function toGenerationRequest(body: MessagesRequest, variant: VariantName): UnreadRequest {
  const sampling = { ...body, max_completion_tokens: undefined, stop: body.stop_sequences };
  return { ...toPromptRequest(body), ...toSampling(sampling, variant) };
}

/**
 * What decides the prompt and the reply's form: all that counting tokens needs. Throws `invalid_request` for what has nothing to
 * answer.
 */
export function toPromptRequest(body: CountTokensRequest): UnreadRequest {
  return {
    ...withBeginning(toMessages(body)),
    tools: body.tools
      ?.filter(isCustomTool)
      .map(({ name, description, input_schema: parameters }) => ({ name, description, parameters })),
    ...toToolChoice(body.tool_choice),
    responseFormat: toResponseFormat(body),
    ...toThinking(body.output_config?.effort),
    // Without having asked for them, these clients expect no thoughts before the text.
    thinking: body.thinking !== undefined && body.thinking.type !== "disabled",
  };
}

/** What the request says and its prompt does not hold. */
export function leftOut({ system = "", tools = [] }: Pick<CountTokensRequest, "system" | "tools">): string[] {
  const types = new Set(tools.flatMap((tool) => (isCustomTool(tool) ? [] : [tool.type])));
  const billing = hasBillingLine(system) ? ["system (x-anthropic-billing-header)"] : [];
  return [...billing, ...[...types].map((type) => `tools (${type})`)];
}

/** A last turn of the assistant is the reply's beginning, to go on with. An empty one begins nothing. */
function withBeginning(messages: UnreadMessage[]): Pick<UnreadRequest, "messages" | "continueFinalMessage"> {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return { messages };
  if (last.content !== "" || last.reasoning !== undefined) return { messages, continueFinalMessage: true };
  if (messages.length > 1) return { messages: messages.slice(0, -1) };
  throw new WireError("invalid_request", "messages must hold more than an empty turn of the assistant", {
    param: "messages",
  });
}

function toToolChoice(
  choice: CountTokensRequest["tool_choice"],
): Pick<UnreadRequest, "toolChoice" | "parallelToolCalls"> {
  if (choice === undefined) return {};
  if (choice.type === "none") return { toolChoice: "none" };
  const parallelToolCalls = choice.disable_parallel_tool_use !== true;
  if (choice.type === "tool") return { toolChoice: { name: choice.name }, parallelToolCalls };
  return { toolChoice: choice.type === "any" ? "required" : "auto", parallelToolCalls };
}

/** Strict, as its clients know it: a schema that cannot be kept is refused. */
function toResponseFormat(body: CountTokensRequest): GenerationRequest["responseFormat"] {
  const format = body.output_config?.format ?? body.output_format;
  return format === undefined ? undefined : { type: "json_schema", schema: format.schema, strict: true };
}
