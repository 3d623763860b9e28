// Whether and how much the model thinks, and the other variables of its chat template. Used by the mappers of each
// protocol.
import type { GenerationRequest } from "@ingle/engine";
import type { ChatCompletionRequest, ReasoningEffort } from "@ingle/protocol";

/** Templates know three efforts; those beyond them mean the nearest. */
const efforts = {
  none: undefined,
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "high",
} as const satisfies Record<ReasoningEffort, string | undefined>;

type ChatRequest = Extract<GenerationRequest, { messages: unknown }>;

/** No effort is no thinking. `enable_thinking` is what most templates call it, and wins where both are given. */
export function toThinking(
  effort: ReasoningEffort | undefined,
  templateKwargs: NonNullable<ChatCompletionRequest["chat_template_kwargs"]> = {},
): Pick<ChatRequest, "thinking" | "templateArguments"> {
  const { enable_thinking: isEnabled, ...kwargs } = templateKwargs;
  const named = effort === undefined ? undefined : efforts[effort];
  return {
    thinking:
      typeof isEnabled === "boolean" ? isEnabled : effort === undefined ? undefined : effort !== "none",
    templateArguments: named === undefined ? kwargs : { reasoning_effort: named, ...kwargs },
  };
}
