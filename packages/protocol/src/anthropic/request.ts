// The requests of /v1/messages and /v1/messages/count_tokens, in Anthropic's shape, checked once where they come in.
// Used by the server's routes; what they answer is in answer.ts.
import { z } from "zod";

import { optionalField } from "../absent.ts";
import { arrayOf } from "../in-bounds.ts";
import { ignoredField, ignoredSampling, ignoredService } from "../ignored.ts";
import { servedModelField, streamFields, userLengthMax } from "../request-fields.ts";
import { schemaFields } from "../response-format.ts";
import { refinePenalties, samplingFields, stopLengthMax, stopsMax } from "../sampling.ts";
import { effortField } from "../thinking.ts";
import { MessageParams, TextContent } from "./blocks.ts";
import { customToolFields, refineCustomTools, type CustomToolFields } from "./tools.ts";

const rules = {
  max_tokens: "max_tokens must be an integer of at least 1",
  stop_sequences: `stop_sequences must be an array of at most ${stopsMax} strings, each of at most ${stopLengthMax} characters`,
  thinking: "thinking must be an object whose type is enabled, disabled or adaptive",
  budget_tokens: "budget_tokens must be an integer of at least 1",
  format: "a format must be an object of the type json_schema with a schema",
  user_id: `user_id must be a string of at most ${userLengthMax} characters`,
};

const JsonFormat = z.looseObject(
  { type: z.literal("json_schema", rules.format), schema: schemaFields.schema },
  rules.format,
);

/** What decides the prompt and the reply's form. */
const promptFields = {
  model: servedModelField,
  messages: MessageParams,
  system: optionalField(TextContent, { description: "The system prompt." }),
  ...customToolFields,
  thinking: optionalField(
    z.looseObject(
      {
        type: z.enum(["enabled", "disabled", "adaptive"], rules.thinking),
        budget_tokens: optionalField(z.int(rules.budget_tokens).min(1, rules.budget_tokens), {
          description: "Accepted: what bounds thinking is max_tokens.",
        }),
      },
      rules.thinking,
    ),
    {
      description: "Whether a model that can think before it answers may do so.",
      default: { type: "disabled" },
    },
  ),
  output_config: optionalField(
    z.looseObject(
      {
        effort: effortField("effort"),
        format: optionalField(JsonFormat, { description: "The reply is JSON of this schema." }),
      },
      "output_config must be an object",
    ),
  ),
  output_format: optionalField(JsonFormat, {
    description: "The older place of output_config.format, which wins.",
  }),
};

const stopSequence = z.string(rules.stop_sequences).max(stopLengthMax, rules.stop_sequences);

/** Without those that have another name here, or another rule. */
const sharedSampling = z
  .object(samplingFields)
  .omit({ max_tokens: true, max_completion_tokens: true, stop: true }).shape;

/**
 * The body of `POST /v1/messages`. `null` means absent and unknown fields are ignored. Sampling has the names and rules of
 * the chat request, those that Anthropic's shape does not know included.
 */
export const MessagesRequest = z
  .looseObject(
    {
      ...promptFields,
      max_tokens: z
        .int(rules.max_tokens)
        .min(1, rules.max_tokens)
        .meta({ description: "Most tokens of the reply, what is thought included." }),
      stop_sequences: optionalField(arrayOf(stopSequence, rules.stop_sequences, { max: stopsMax }), {
        description: "The reply ends before the first of these texts that comes.",
      }),
      ...sharedSampling,
      stream: streamFields.stream,
      ...ignoredSampling,
      ...ignoredService,
      container: ignoredField("nothing is run here"),
      mcp_servers: ignoredField("the server calls no others"),
      context_management: ignoredField("what happens to a long conversation is the server's setting"),
      inference_geo: ignoredField("replies are computed on this machine"),
      speed: ignoredField("replies are as fast as they can be", ["standard"]),
      metadata: optionalField(
        z.looseObject(
          {
            user_id: optionalField(z.string(rules.user_id).max(userLengthMax, rules.user_id), {
              description: "For whom the client asks, as `user` in a chat.",
            }),
          },
          "metadata must be an object",
        ),
      ),
    },
    "the body must be a JSON object",
  )
  .superRefine(refinePenalties)
  .superRefine(refinePrompt)
  .meta({ id: "MessagesRequest" });
export type MessagesRequest = z.infer<typeof MessagesRequest>;

/** The body of `POST /v1/messages/count_tokens`; what only the reply needs is ignored. */
export const CountTokensRequest = z
  .looseObject(promptFields, "the body must be a JSON object")
  .superRefine(refinePrompt)
  .meta({ id: "CountTokensRequest" });
export type CountTokensRequest = z.infer<typeof CountTokensRequest>;

interface PromptFields extends CustomToolFields {
  messages: MessageParams;
}

/** Adds the issues of fields that do not go together. */
function refinePrompt(request: PromptFields, context: z.RefinementCtx): void {
  refineCustomTools(request, context);
  refineLastTurn(request, context);
}

/** Adds an issue when the reply would have to go on after calls whose results are not there. */
function refineLastTurn({ messages }: PromptFields, context: z.RefinementCtx): void {
  const last = messages.at(-1);
  if (last?.role !== "assistant" || typeof last.content === "string") return;
  if (!last.content.some((block) => block.type === "tool_use")) return;
  context.addIssue({
    code: "custom",
    path: ["messages"],
    message:
      "the last message has tool_use blocks; send their results as tool_result blocks of a user message",
  });
}
