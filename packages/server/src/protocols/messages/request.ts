// A checked messages request in the engine's names.
import type { GenerationRequest } from "@ingle/engine";
import { isCustomTool, type CountTokensRequest, type MessagesRequest } from "@ingle/protocol";
import type { UnreadMessage, UnreadRequest } from "../content-parts.ts";
import { toSampling, toThinking } from "../engine-fields.ts";
import type { VariantName } from "../../variants.ts";
import { WireError } from "../../wire-error.ts";
import { hasBillingLine, toMessages } from "./messages.ts";

/** Fields that are absent stay absent: their defaults are the engine's. Throws what `toPromptRequest` throws. */
export function toMessagesRequest(body: MessagesRequest, variant: VariantName): UnreadRequest {
  const sampling = { ...body, max_completion_tokens: undefined, stop: body.stop_sequences };
  return { ...toPromptRequest(body), ...toSampling(sampling, variant) };
}

/**
 * The fields that decide the prompt and the form of the reply: all that counting tokens needs. Throws `invalid_request` where
 * there is nothing to reply to.
 */
export function toPromptRequest(body: CountTokensRequest): UnreadRequest {
  return {
    ...withReplyStart(toMessages(body)),
    tools: body.tools
      ?.filter(isCustomTool)
      .map(({ name, description, input_schema: parameters }) => ({ name, description, parameters })),
    ...toToolChoice(body.tool_choice),
    responseFormat: toResponseFormat(body),
    ...toThinking(body.output_config?.effort),
    // Anthropic's default is no thinking, whatever the template's is.
    thinking: body.thinking !== undefined && body.thinking.type !== "disabled",
  };
}

/** What the request holds and its prompt leaves out. */
export function ignoredParts({
  system = "",
  tools = [],
}: Pick<CountTokensRequest, "system" | "tools">): string[] {
  const types = new Set(tools.flatMap((tool) => (isCustomTool(tool) ? [] : [tool.type])));
  const billing = hasBillingLine(system) ? ["system (x-anthropic-billing-header)"] : [];
  return [...billing, ...[...types].map((type) => `tools (${type})`)];
}

/** A last message of the assistant is the start of the reply, which is continued. An empty one is dropped. */
function withReplyStart(messages: UnreadMessage[]): Pick<UnreadRequest, "messages" | "continueFinalMessage"> {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return { messages };
  if (last.content !== "" || last.reasoning !== undefined) return { messages, continueFinalMessage: true };
  if (messages.length > 1) return { messages: messages.slice(0, -1) };
  throw new WireError("invalid_request", "messages must hold more than an empty assistant message", {
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

/** Strict, as in Anthropic's API: a schema that cannot be enforced is refused. */
function toResponseFormat(body: CountTokensRequest): GenerationRequest["responseFormat"] {
  const format = body.output_config?.format ?? body.output_format;
  return format === undefined ? undefined : { type: "json_schema", schema: format.schema, strict: true };
}
