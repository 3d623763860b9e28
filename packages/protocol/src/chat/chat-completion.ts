// POST /v1/chat/completions: the request, and the response, complete or in chunks.
import { z } from "zod";

import { ignoredField, ignoredLimits, ignoredService } from "../fields/ignored-fields.ts";
import { ChoiceLogprobs, logprobFields, refineLogprobs } from "../fields/logprobs.ts";
import { contentSchema, TextPart } from "../fields/content.ts";
import { optionalField, refusedField, responseObject } from "../fields/field.ts";
import {
  bodyRule,
  choicesField,
  engineFields,
  identityFields,
  servedModelField,
  streamFields,
  userField,
} from "../fields/request-fields.ts";
import { promptProgress, replyTokens, reportFields } from "../fields/report-fields.ts";
import { formatFieldsWithVllm, refineFormat } from "../fields/response-format.ts";
import { refineSampling, samplingFields } from "../fields/sampling.ts";
import { boundedArray } from "../fields/size-precheck.ts";
import {
  reasoningField,
  refineContinuation,
  templateFields,
  thinkingLimitFields,
} from "../fields/template-fields.ts";
import { refineTools, toolFields } from "../fields/tools.ts";
import { ChunkTimings, Timings, Usage } from "../usage.ts";
import { ChatMessages, ToolCall } from "./messages.ts";

const modalitiesRule = 'modalities must be ["text"]: replies are always text';

/** Fields that would change the form of the reply, and are not supported. */
const refusedFields = {
  functions: refusedField("functions is the older form of tools: use tools"),
  function_call: refusedField("function_call is the older form of tool_choice: use tool_choice"),
  audio: refusedField("audio is not supported: replies are always text"),
  chat_template: refusedField(
    "chat_template cannot be chosen by a request; load the model with it, or start the server with --chat-template",
  ),
  modalities: optionalField(
    boundedArray(z.literal("text", modalitiesRule), modalitiesRule, { max: 1 }),
    "Replies are always text.",
  ),
};

const Prediction = z
  .looseObject(
    { type: z.literal("content", 'type must be "content"'), content: contentSchema(TextPart) },
    'prediction must be {"type": "content", "content": …}',
  )
  .meta({ id: "Prediction" });

const ignoredFields = {
  ...ignoredLimits,
  ...ignoredService,
  store: ignoredField("nothing is stored", [false]),
  metadata: ignoredField("nothing is stored"),
  verbosity: ignoredField("ask for it in a message", ["medium"]),
  web_search_options: ignoredField("the server has no built-in tools"),
};

/**
 * The body of `POST /v1/chat/completions`. `null` means absent, and unknown fields are ignored. One parse finds every wrong
 * field and every contradiction; the path of each issue is the field.
 */
export const ChatCompletionRequest = z
  .looseObject(
    {
      model: servedModelField,
      messages: ChatMessages,
      ...samplingFields,
      n: choicesField,
      prediction: optionalField(
        Prediction,
        "What the reply will probably repeat, such as the file that it changes. Its tokens are drafted, which makes such a reply faster and never changes it.",
      ),
      ...logprobFields,
      ...reportFields,
      ...formatFieldsWithVllm,
      ...toolFields,
      ...templateFields,
      ...thinkingLimitFields,
      reasoning: reasoningField,
      ...streamFields,
      ...engineFields,
      user: userField,
      ...identityFields,
      ...refusedFields,
      ...ignoredFields,
    },
    bodyRule,
  )
  .superRefine(refineSampling)
  .superRefine(refineLogprobs)
  .superRefine(refineFormat)
  .superRefine(refineTools)
  .superRefine(refineContinuation)
  .meta({ id: "ChatCompletionRequest" });
/** A checked request. */
export type ChatCompletionRequest = z.infer<typeof ChatCompletionRequest>;
/** A request as clients write it: `null` means absent. */
export type ChatCompletionBody = z.input<typeof ChatCompletionRequest>;

export const FinishReason = z.enum(["stop", "length", "tool_calls"]).meta({
  id: "FinishReason",
  description:
    "Why the reply ended. stop: on its own or at a stop string; length: at a token limit; tool_calls: to have tools called.",
});
export type FinishReason = z.infer<typeof FinishReason>;

const completionFields = {
  id: z.string().describe("chatcmpl-…, the same in every chunk."),
  created: z.int().describe("Unix seconds."),
  model: z.string(),
  system_fingerprint: z.string().describe("Identifies the weights and the arithmetic."),
};

/** The response if `stream` is not true. */
export const ChatCompletion = responseObject("ChatCompletion", {
  ...completionFields,
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
      tokens: replyTokens,
    }),
  ),
  usage: Usage,
  timings: Timings,
});
export type ChatCompletion = z.infer<typeof ChatCompletion>;

/** A fragment of a tool call: the first of an `index` has `id`, `type` and the name; later ones have more arguments. */
const ToolCallDelta = z.object({
  index: z.int(),
  id: z.string().optional(),
  type: z.literal("function").optional(),
  function: z.object({ name: z.string().optional(), arguments: z.string().optional() }).optional(),
});

/** One event of a streamed response. Only the last one, sent for `include_usage`, has no choices. */
export const ChatCompletionChunk = responseObject("ChatCompletionChunk", {
  ...completionFields,
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
      tokens: replyTokens,
    }),
  ),
  usage: Usage.nullable().optional(),
  timings: ChunkTimings,
  prompt_progress: promptProgress,
});
export type ChatCompletionChunk = z.infer<typeof ChatCompletionChunk>;
