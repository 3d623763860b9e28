// Fields for the model's chat template: how much to reason, variables, and whether to continue the last message.
import { tokensMax } from "@ingle/generation-options";
import { z } from "zod";
import { flag, integerField, optionalField, refuseField, stringField } from "./field.ts";
import { boundedArray, hasEntriesAtMost, sizePrecheck } from "./size-precheck.ts";

/** Maximum number of entries of `chat_template_kwargs`. */
export const templateKwargsMax = 32;

/** Maximum number of items of an entry that is a list. */
const kwargsListMax = 256;

const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type ReasoningEffort = (typeof efforts)[number];

/** How much to reason before replying, by its wire name. */
export function effortField(name: string) {
  return optionalField(
    z.enum(efforts, `${name} must be one of ${efforts.join(", ")}`),
    "How much the model reasons before it replies; the default depends on the chat template.",
  );
}

/** Variables that only the server may set: with them, a client could replace the prompt. */
const reserved = new Set([
  "add_generation_prompt",
  "bos_token",
  "chat_template",
  "documents",
  "eos_token",
  "messages",
  "tokenize",
  "tools",
]);

const kwargsRule = `chat_template_kwargs must be an object of at most ${templateKwargsMax} strings, numbers, booleans or lists of at most ${kwargsListMax} of them`;

const kwarg = z.union(
  [z.string(kwargsRule).max(1_024, kwargsRule), z.number(kwargsRule), z.boolean(kwargsRule)],
  kwargsRule,
);

const kwargs = sizePrecheck(
  z
    .record(
      z.string().regex(/^[A-Za-z_]\w{0,63}$/, kwargsRule),
      z.union([kwarg, boundedArray(kwarg, kwargsRule, { max: kwargsListMax })], kwargsRule),
      kwargsRule,
    )
    .refine(
      (values) => !Object.keys(values).some((name) => reserved.has(name)),
      `chat_template_kwargs must not have ${[...reserved].join(", ")}`,
    ),
  hasEntriesAtMost(templateKwargsMax),
  kwargsRule,
);

/** Maximum number of tokens of a thought, by its wire name. */
export function thinkingLimitField(name: string) {
  return optionalField(
    integerField(name, { min: -1, max: tokensMax }),
    "Maximum number of tokens that the model thinks; then its thought is ended, and it replies. -1 means no limit.",
  );
}

/** The limit of a thought, under the names that it has in different programs; the first one that is given counts. */
export const thinkingLimitFields = {
  thinking_budget_tokens: thinkingLimitField("thinking_budget_tokens"),
  reasoning_budget_tokens: thinkingLimitField("reasoning_budget_tokens"),
  reasoning_budget: thinkingLimitField("reasoning_budget"),
  thinking_budget: thinkingLimitField("thinking_budget"),
  thinking_token_budget: thinkingLimitField("thinking_token_budget"),
  reasoning_budget_message: optionalField(
    stringField("reasoning_budget_message", { max: 1_024 }),
    "What a thought ends with that is ended by its limit.",
  ),
};

const reasoningRule = "reasoning must be an object";

/** OpenRouter's form of both. */
export const reasoningField = optionalField(
  z.looseObject(
    { effort: effortField("effort"), max_tokens: thinkingLimitField("max_tokens") },
    reasoningRule,
  ),
  "How much the model reasons: effort as reasoning_effort, max_tokens as thinking_budget_tokens.",
);

/** The fields by their wire names. */
export const templateFields = {
  reasoning_effort: effortField("reasoning_effort"),
  chat_template_kwargs: optionalField(
    kwargs,
    "Variables for the model's chat template, such as enable_thinking.",
  ),
  continue_final_message: flag(
    "continue_final_message",
    "Continues the last message, which must be the assistant's; the reply is only what follows it.",
    false,
  ),
};

/** Adds an issue if there is no assistant message to continue. */
export function refineContinuation(
  request: { continue_final_message?: boolean | undefined; messages: readonly { role: string }[] },
  context: z.RefinementCtx,
): void {
  if (request.continue_final_message !== true || request.messages.at(-1)?.role === "assistant") return;
  refuseField(
    context,
    "continue_final_message",
    "continue_final_message needs the last message to be the assistant's",
  );
}
