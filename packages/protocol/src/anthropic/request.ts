// The requests of /v1/messages and /v1/messages/count_tokens, in Anthropic's shape.
import { generationOptions } from "@ingle/generation-options";
import { z } from "zod";

import { loraField } from "../fields/adapters.ts";
import { integerField, optionalField, refusedField, refuseField, stringField } from "../fields/field.ts";
import { ignoredField, ignoredLimits, ignoredService } from "../fields/ignored-fields.ts";
import { bodyRule, servedModelField, streamFields, userLengthMax } from "../fields/request-fields.ts";
import { schemaFields } from "../fields/response-format.ts";
import { refineSampling, samplingFields } from "../fields/sampling.ts";
import { boundedArray } from "../fields/size-precheck.ts";
import { effortField, thinkingLimitFields } from "../fields/template-fields.ts";
import { MessageParams, TextContent } from "./blocks.ts";
import { customToolFields, refineCustomTools, type CustomToolFields } from "./tools.ts";

const { stop } = generationOptions;
const stopRule = `stop_sequences must be an array of at most ${stop.max} strings, each of at most ${stop.lengthMax} characters`;
const thinkingRule = "thinking must be an object whose type is enabled, disabled, adaptive or between_tools";
const displayRule = "display must be summarized, omitted or updates";
const formatRule = "a format must be an object of the type json_schema with a schema";

const JsonFormat = z.looseObject(
  { type: z.literal("json_schema", formatRule), schema: schemaFields.schema },
  formatRule,
);

/** The fields that determine the prompt and the form of the reply. */
const promptFields = {
  model: servedModelField,
  messages: MessageParams,
  system: optionalField(TextContent, "The system prompt."),
  ...customToolFields,
  thinking: optionalField(
    z.looseObject(
      {
        type: z.enum(["enabled", "disabled", "adaptive", "between_tools"], thinkingRule),
        budget_tokens: optionalField(
          integerField("budget_tokens", { min: 1 }),
          "Maximum number of tokens that the model thinks; then its thought is ended, and it replies.",
        ),
        display: optionalField(
          z.enum(["summarized", "omitted", "updates"], displayRule),
          "summarized: blocks with the whole thinking; omitted: blocks without its text; updates is ignored.",
          "summarized",
        ),
      },
      thinkingRule,
    ),
    "Whether the model may reason before it replies, if it can; between_tools is like disabled.",
    { type: "disabled" },
  ),
  output_config: optionalField(
    z.looseObject(
      {
        effort: effortField("effort"),
        format: optionalField(JsonFormat, "The reply is JSON of this schema."),
      },
      "output_config must be an object",
    ),
  ),
  output_format: optionalField(JsonFormat, "The older name of output_config.format, which takes precedence."),
};

const stopSequence = z.string(stopRule).max(stop.lengthMax, stopRule);

/** Excludes the fields that have another name or another rule here. */
const sharedSampling = z
  .object(samplingFields)
  .omit({ max_tokens: true, max_completion_tokens: true, stop: true }).shape;

/**
 * The body of `POST /v1/messages`. `null` means absent, and unknown fields are ignored. Sampling fields are those of a chat
 * request, including those that Anthropic's API does not have.
 */
export const MessagesRequest = z
  .looseObject(
    {
      ...promptFields,
      max_tokens: integerField("max_tokens", { min: 1 }).describe(
        "Maximum number of tokens in the reply, including its reasoning.",
      ),
      stop_sequences: optionalField(
        boundedArray(stopSequence, stopRule, { max: stop.max }),
        "The reply ends before the first of these texts.",
      ),
      ...sharedSampling,
      stream: streamFields.stream,
      lora: loraField,
      ...thinkingLimitFields,
      ...ignoredLimits,
      ...ignoredService,
      thread: refusedField(
        "the server keeps no threads: send the whole conversation in messages, without thread",
      ),
      container: ignoredField("the server runs no code"),
      mcp_servers: ignoredField("the server calls no other servers"),
      context_management: ignoredField("the server's settings decide what happens to long conversations"),
      inference_geo: ignoredField("replies are computed on this machine"),
      speed: ignoredField("there is one speed", ["standard"]),
      metadata: optionalField(
        z.looseObject(
          {
            user_id: optionalField(
              stringField("user_id", { max: userLengthMax }),
              "The client's end user, like `user` in a chat request.",
            ),
          },
          "metadata must be an object",
        ),
      ),
    },
    bodyRule,
  )
  .superRefine(refineSampling)
  .superRefine(refinePrompt)
  .meta({ id: "MessagesRequest" });
export type MessagesRequest = z.infer<typeof MessagesRequest>;

/** The body of `POST /v1/messages/count_tokens`; fields that only matter for the reply are ignored. */
export const CountTokensRequest = z
  .looseObject(promptFields, bodyRule)
  .superRefine(refinePrompt)
  .meta({ id: "CountTokensRequest" });
export type CountTokensRequest = z.infer<typeof CountTokensRequest>;

interface PromptFields extends CustomToolFields {
  messages: MessageParams;
}

/** Adds the issues of fields that contradict each other. */
function refinePrompt(request: PromptFields, context: z.RefinementCtx): void {
  refineCustomTools(request, context);
  refineLastTurn(request, context);
}

/** Adds an issue if the reply would follow tool calls without results. */
function refineLastTurn({ messages }: PromptFields, context: z.RefinementCtx): void {
  const last = messages.at(-1);
  if (last?.role !== "assistant" || typeof last.content === "string") return;
  if (!last.content.some((block) => block.type === "tool_use")) return;
  refuseField(
    context,
    "messages",
    "the last message has tool_use blocks; send their results as tool_result blocks of a user message",
  );
}
