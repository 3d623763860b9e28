// Converts the tools of a checked messages request for the engine. Those with `defer_loading` are not listed at the start of the
// prompt: their definitions stand where a tool's result refers to them, so that the prompt before it stays cached.
import { isCustomTool, type CountTokensRequest, type MessageParam } from "@ingle/protocol";
import type { UnreadRequest } from "../../content/content-parts.ts";

type EngineTools = UnreadRequest["tools"];
type PromptFields = Pick<CountTokensRequest, "messages" | "tools" | "tool_choice">;

/** A search that another service would run. Nothing here will refer to the tools that it would find. */
const searchedElsewhere = /^tool_search_tool_/;

/**
 * The tools that the model may call. Of the deferred ones, these are those that a result has referred to, and the one that the
 * request demands.
 */
export function toTools({ tools, messages, tool_choice: choice }: PromptFields): EngineTools {
  const custom = tools?.filter(isCustomTool);
  const isFound = tools?.some(({ type }) => type !== undefined && searchedElsewhere.test(type)) === true;
  const references = new Set(messages.flatMap(findReferences));
  return custom?.flatMap((tool): NonNullable<EngineTools> => {
    const { name, description, input_schema: parameters, strict, defer_loading: isDeferred = false } = tool;
    const told = { name, description, parameters, strict };
    if (isDeferred && references.has(name)) return [{ ...told, isDeferred }];
    const isNamed = choice?.type === "tool" && choice.name === name;
    return !isDeferred || isFound || isNamed ? [told] : [];
  });
}

/** The definition of each deferred tool, as the model is to read it. */
export function deferredTools(tools: CountTokensRequest["tools"] = []): ReadonlyMap<string, string> {
  return new Map(
    tools.filter(isCustomTool).flatMap((tool) => {
      const { name, description, input_schema: parameters, defer_loading: isDeferred = false } = tool;
      return isDeferred ? [[name, JSON.stringify({ name, description, parameters })]] : [];
    }),
  );
}

function findReferences({ content }: MessageParam): string[] {
  if (typeof content === "string") return [];
  return content.flatMap((block) => {
    if (block.type !== "tool_result" || typeof block.content !== "object") return [];
    return block.content.flatMap((each) => (each.type === "tool_reference" ? [each.tool_name] : []));
  });
}
