// The models that can be served in Anthropic's shape. Used by routes/models.ts.
import type { AnthropicModel, AnthropicModelList, ModelEntry, ModelsQuery } from "@ingle/protocol";
import { modelsPageMax } from "@ingle/protocol";

export function toAnthropicModel({ id, created, context_length }: ModelEntry): AnthropicModel {
  return {
    type: "model",
    id,
    display_name: id,
    created_at: new Date(created * 1000).toISOString(),
    max_input_tokens: context_length,
    max_tokens: context_length,
  };
}

/** The page that is asked for; after or before a model that is not there, nothing is. */
export function toAnthropicList(
  entries: readonly ModelEntry[],
  { limit = modelsPageMax, after_id: after, before_id: before }: ModelsQuery,
): AnthropicModelList {
  const placeOf = (id: string): number => entries.findIndex((entry) => entry.id === id);
  const behind = after === undefined ? 0 : placeOf(after) + 1;
  const begin = after === undefined || behind > 0 ? behind : entries.length;
  const end = before === undefined ? entries.length : Math.max(0, placeOf(before));
  const wanted = entries.slice(begin, end);
  const page = before === undefined ? wanted.slice(0, limit) : wanted.slice(-limit);
  return {
    data: page.map(toAnthropicModel),
    has_more: page.length < wanted.length,
    first_id: page.at(0)?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}
