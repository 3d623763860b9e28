// Fields of a chat request that this release cannot honour. A request that uses one is refused by name, never answered
// as if the field were not there. Used by chat.ts; a field leaves this list when the server learns it.
import { z } from "zod";

import { optionalField } from "./absent.ts";
import type { ChatMessage } from "./messages.ts";

/** Most entries of `tools`. */
export const toolsMax = 128;

/** Most UTF-16 units of a grammar. */
export const grammarLengthMax = 256 * 1024;

const efforts = ["none", "minimal", "low", "medium", "high", "xhigh"] as const;

const toolChoiceRule = 'tool_choice must be "auto", "none", "required" or a named function';

const namedFunction = z.looseObject(
  {
    type: z.literal("function", toolChoiceRule),
    function: z.looseObject({ name: z.string(toolChoiceRule) }, toolChoiceRule),
  },
  toolChoiceRule,
);

/** The fields by their wire names; values without effect (`n: 1`, an empty `tools`, `tool_choice: "none"`) are accepted. */
export const laterFields = {
  n: optionalField(
    z.int("n must be an integer from 1 to 16").min(1, "n must be at least 1").max(16, "n must be at most 16"),
  ),
  logprobs: optionalField(z.boolean("logprobs must be true or false")),
  top_logprobs: optionalField(
    z
      .int("top_logprobs must be an integer from 0 to 20")
      .min(0, "top_logprobs must be at least 0")
      .max(20, "top_logprobs must be at most 20"),
  ),
  response_format: optionalField(
    z.discriminatedUnion(
      "type",
      [
        z.looseObject({ type: z.literal("text") }),
        z.looseObject({ type: z.literal("json_object") }),
        z.looseObject({
          type: z.literal("json_schema"),
          json_schema: z.looseObject({}, "json_schema must be an object"),
        }),
      ],
      "response_format must be an object whose type is text, json_object or json_schema",
    ),
  ),
  grammar: optionalField(
    z
      .string("grammar must be a string")
      .max(grammarLengthMax, `grammar must be at most ${grammarLengthMax} characters`),
  ),
  tools: optionalField(
    z
      .array(z.looseObject({}, "a tool must be an object"), "tools must be an array")
      .max(toolsMax, `tools must have at most ${toolsMax} entries`),
  ),
  tool_choice: optionalField(z.union([z.enum(["auto", "none", "required"]), namedFunction], toolChoiceRule)),
  parallel_tool_calls: optionalField(z.boolean("parallel_tool_calls must be true or false")),
  reasoning_effort: optionalField(z.enum(efforts, `reasoning_effort must be one of ${efforts.join(", ")}`)),
  chat_template_kwargs: optionalField(
    z.record(z.string(), z.unknown(), "chat_template_kwargs must be an object"),
  ),
};

/** The later fields of a request that has passed its fields' own rules. */
export type LaterFields = z.infer<z.ZodObject<typeof laterFields>>;

/** Whether a field's value would change the answer. `parallel_tool_calls` alone never does: it needs `tools`. */
const hasEffect = {
  n: (request) => request.n !== undefined && request.n > 1,
  logprobs: (request) => request.logprobs === true,
  response_format: (request) =>
    request.response_format !== undefined && request.response_format.type !== "text",
  grammar: (request) => request.grammar !== undefined && request.grammar !== "",
  tools: (request) => request.tools !== undefined && request.tools.length > 0,
  tool_choice: (request) => request.tool_choice !== undefined && request.tool_choice !== "none",
  reasoning_effort: (request) => request.reasoning_effort !== undefined,
  chat_template_kwargs: (request) => Object.keys(request.chat_template_kwargs ?? {}).length > 0,
} satisfies Partial<Record<keyof LaterFields, (request: LaterFields) => boolean>>;

/** Adds one issue for each later field that is used, and for pairs of fields that contradict each other. */
export function refineLaterFields(
  request: LaterFields & { messages: ChatMessage[] },
  context: z.RefinementCtx,
): void {
  const refuse = (path: (string | number)[], message: string) =>
    context.addIssue({ code: "custom", path, message });
  if (request.top_logprobs !== undefined && request.logprobs !== true) {
    refuse(["top_logprobs"], "top_logprobs needs logprobs to be true");
  }
  if (hasEffect.grammar(request) && request.response_format !== undefined) {
    refuse(["grammar"], "grammar and response_format exclude each other: give one of them");
  }
  for (const [field, used] of Object.entries(hasEffect)) {
    if (used(request))
      refuse([field], `${field} is not supported by this release with this value: leave it out`);
  }
  refuseToolMessages(request.messages, refuse);
}

/** The engine cannot write tool calls and their results into a prompt yet; dropping them would change the conversation. */
function refuseToolMessages(
  messages: ChatMessage[],
  refuse: (path: (string | number)[], message: string) => void,
): void {
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") {
      refuse(
        ["messages", index, "role"],
        "messages of the role tool are not supported by this release: leave them out",
      );
    }
    if (message.role === "assistant" && (message.tool_calls ?? []).length > 0) {
      refuse(
        ["messages", index, "tool_calls"],
        "tool_calls are not supported by this release: leave them out",
      );
    }
  }
}
