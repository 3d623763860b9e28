// The chat completion request, checked once where it comes in, and the two forms of its answer.
// Used by the server's /v1/chat/completions route; the client takes its types from here.
import { z } from "zod";

import { optionalField } from "./absent.ts";
import { ignoredField, ignoredSampling, ignoredService } from "./ignored.ts";
import { arrayOf } from "./in-bounds.ts";
import { ChoiceLogprobs, logprobFields, refineLogprobs } from "./logprobs.ts";
import { ChatMessages, ToolCall } from "./messages.ts";
import {
  choicesField,
  engineFields,
  servedModelField,
  refusedField,
  streamFields,
  userField,
} from "./request-fields.ts";
import { formatFields, refineFormat } from "./response-format.ts";
import { refinePenalties, samplingFields } from "./sampling.ts";
import { refineContinuation, thinkingFields } from "./thinking.ts";
import { refineTools, toolFields } from "./tools.ts";
import { Timings, Usage } from "./usage.ts";

const modalitiesRule = 'modalities must be ["text"]: replies are texts';

/** What would change the reply's form, and is not there. */
const refusedFields = {
  functions: refusedField("functions is the older form of tools: send them as tools"),
  function_call: refusedField("function_call is the older form of tool_choice: send that"),
  audio: refusedField("audio must be left out: replies are texts"),
  modalities: optionalField(arrayOf(z.literal("text", modalitiesRule), modalitiesRule, { max: 1 }), {
    description: "Replies are texts.",
  }),
};

const ignoredFields = {
  ...ignoredSampling,
  ...ignoredService,
  store: ignoredField("nothing is stored", [false]),
  metadata: ignoredField("nothing is stored"),
  verbosity: ignoredField("say it in a message", ["medium"]),
  prediction: ignoredField("the reply is the same without it"),
  web_search_options: ignoredField("the server has no tools of its own"),
};

/**
 * The body of `POST /v1/chat/completions`. `null` means absent and unknown fields are ignored. One parse finds every
 * wrong field and every contradiction; each issue's path is the field.
 */
export const ChatCompletionRequest = z
  .looseObject(
    {
      model: servedModelField,
      messages: ChatMessages,
      ...samplingFields,
      n: choicesField,
      ...logprobFields,
      ...formatFields,
      ...toolFields,
      ...thinkingFields,
      ...streamFields,
      ...engineFields,
      user: userField,
      ...refusedFields,
      ...ignoredFields,
    },
    "the body must be a JSON object",
  )
  .superRefine(refinePenalties)
  .superRefine(refineLogprobs)
  .superRefine(refineFormat)
  .superRefine(refineTools)
  .superRefine(refineContinuation)
  .meta({ id: "ChatCompletionRequest" });
/** A checked request. */
export type ChatCompletionRequest = z.infer<typeof ChatCompletionRequest>;
/** A request as a client may write it: with `null` for absent. */
export type ChatCompletionBody = z.input<typeof ChatCompletionRequest>;

/** Why a reply ended: by itself or at a stop string; at a token limit; to have tools called. */
export const FinishReason = z.enum(["stop", "length", "tool_calls"]).meta({
  id: "FinishReason",
  description:
    "stop: by itself or at a stop string; length: at a limit of tokens; tool_calls: to have tools called.",
});
export type FinishReason = z.infer<typeof FinishReason>;

const answerFields = {
  id: z.string().meta({ description: "chatcmpl-…, the same in every chunk of a reply." }),
  created: z.int().meta({ description: "Unix seconds." }),
  model: z.string(),
  system_fingerprint: z.string().meta({ description: "The same from the same weights and arithmetic." }),
};

/** The whole reply, when `stream` is not true. */
export const ChatCompletion = z
  .object({
    ...answerFields,
    object: z.literal("chat.completion"),
    choices: z.array(
      z.object({
        index: z.int(),
        message: z.object({
          role: z.literal("assistant"),
          content: z.string().nullable(),
          reasoning_content: z.string().optional(),
          tool_calls: z.array(ToolCall).optional(),
        }),
        finish_reason: FinishReason,
        logprobs: ChoiceLogprobs.nullable().optional(),
      }),
    ),
    usage: Usage,
    timings: Timings,
  })
  .meta({ id: "ChatCompletion" });
export type ChatCompletion = z.infer<typeof ChatCompletion>;

/** A fragment of a tool call: the first one of an `index` has `id`, `type` and the name, later ones more arguments. */
const ToolCallDelta = z.object({
  index: z.int(),
  id: z.string().optional(),
  type: z.literal("function").optional(),
  function: z.object({ name: z.string().optional(), arguments: z.string().optional() }).optional(),
});

/** One event of a streamed reply. Only the last one, sent on `include_usage`, has no choices. */
export const ChatCompletionChunk = z
  .object({
    ...answerFields,
    object: z.literal("chat.completion.chunk"),
    choices: z.array(
      z.object({
        index: z.int(),
        delta: z.object({
          role: z.literal("assistant").optional(),
          content: z.string().nullable().optional(),
          reasoning_content: z.string().optional(),
          tool_calls: z.array(ToolCallDelta).optional(),
        }),
        finish_reason: FinishReason.nullable(),
        logprobs: ChoiceLogprobs.nullable().optional(),
      }),
    ),
    usage: Usage.nullable().optional(),
    timings: Timings.partial().optional().meta({
      description:
        "Whole in the chunk with the finish reason; before it, on timings_per_token, what is known so far.",
    }),
  })
  .meta({ id: "ChatCompletionChunk" });
export type ChatCompletionChunk = z.infer<typeof ChatCompletionChunk>;
