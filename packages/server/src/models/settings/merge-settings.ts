// Settings of a model over those of a pattern, and the defaults of a profile over those of its model.
import type { ModelSettings, ReplyDefaults } from "@ingle/protocol";
import { present } from "../../present.ts";

/** `over` outranks `under`, field by field, also within `sampling` and within each profile. */
export function mergeSettings(under: ModelSettings, over: ModelSettings): ModelSettings {
  const profiles = { ...under.profiles };
  for (const [name, profile] of Object.entries(over.profiles ?? {}))
    profiles[name] = mergeReplies(profiles[name] ?? {}, profile);
  return {
    ...under,
    ...present(over),
    ...mergeReplies(under, over),
    profiles: Object.keys(profiles).length === 0 ? undefined : profiles,
  };
}

/** The defaults of requests of a profile over those of its model, or of a name over those of a pattern. */
export function mergeReplies(under: ReplyDefaults, over: ReplyDefaults): ReplyDefaults {
  const sampling = { ...under.sampling, ...present(over.sampling ?? {}) };
  return {
    system_prompt: over.system_prompt ?? under.system_prompt,
    thinking: over.thinking ?? under.thinking,
    thinking_budget_tokens: over.thinking_budget_tokens ?? under.thinking_budget_tokens,
    sampling: Object.keys(sampling).length === 0 ? undefined : sampling,
  };
}
