// What a request says of thinking and to the chat template. Used by chat.ts and responses/request.ts.
import { z } from "zod";

import { optionalField } from "./absent.ts";
import { arrayOf, hasAtMost, inBounds } from "./in-bounds.ts";

/** Most entries of `chat_template_kwargs`. */
export const templateKwargsMax = 32;

const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

/** How much to think, by its wire name. */
export function effortField(name: string) {
  return optionalField(z.enum(efforts, `${name} must be one of ${efforts.join(", ")}`), {
    description: "How much the model thinks before it answers; the chat template has the default.",
  });
}
export type ReasoningEffort = (typeof efforts)[number];

/** Variables that the server itself gives to the template: whoever could set them could write another prompt. */
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

/** Most entries of one that is a list. */
const kwargsListMax = 256;

const kwargsRule = `chat_template_kwargs must be an object of at most ${templateKwargsMax} strings, numbers, booleans or lists of at most ${kwargsListMax} of them`;

const kwarg = z.union(
  [z.string(kwargsRule).max(1_024, kwargsRule), z.number(kwargsRule), z.boolean(kwargsRule)],
  kwargsRule,
);

const kwargs = inBounds(
  z
    .record(
      z.string().regex(/^[A-Za-z_]\w{0,63}$/, kwargsRule),
      z.union([kwarg, arrayOf(kwarg, kwargsRule, { max: kwargsListMax })], kwargsRule),
      kwargsRule,
    )
    .refine(
      (values) => !Object.keys(values).some((name) => reserved.has(name)),
      `chat_template_kwargs must not have ${[...reserved].join(", ")}`,
    ),
  hasAtMost(templateKwargsMax),
  kwargsRule,
);

/** The fields by their wire names. */
export const thinkingFields = {
  reasoning_effort: effortField("reasoning_effort"),
  chat_template_kwargs: optionalField(kwargs, {
    description: "Variables for the model's chat template, such as enable_thinking.",
  }),
  continue_final_message: optionalField(z.boolean("continue_final_message must be true or false"), {
    description: "Goes on with the last message, which is the assistant's; the reply is what comes after it.",
    default: false,
  }),
};

/** Adds an issue when there is no message of the assistant to go on with. */
export function refineContinuation(
  request: { continue_final_message?: boolean | undefined; messages: readonly { role: string }[] },
  context: z.RefinementCtx,
): void {
  if (request.continue_final_message !== true || request.messages.at(-1)?.role === "assistant") return;
  context.addIssue({
    code: "custom",
    path: ["continue_final_message"],
    message: "continue_final_message needs the last message to be the assistant's",
  });
}
