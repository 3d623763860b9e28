// The chat and text completions of LM Studio's API v0: those of /v1, plus statistics and information about the model.
import { z } from "zod";

import { ChatCompletion, ChatCompletionChunk, ChatCompletionRequest } from "../chat/chat-completion.ts";
import { Completion, CompletionChunk, CompletionRequest } from "../completions.ts";
import { integerField, optionalField, responseObject } from "../fields/field.ts";
import { ignoredField } from "../fields/ignored-fields.ts";

/** The longest time that a timer can wait, in seconds. */
const ttlMax = 2_147_483;

const requestFields = {
  ttl: optionalField(
    integerField("ttl", { min: 1, max: ttlMax }),
    "Seconds after which the model is unloaded if no request uses it. Needs the right to manage models.",
  ),
  draft_model: ignoredField("the server's --draft-model decides", [""]),
};

/** The body of `POST /api/v0/chat/completions`. */
export const LmStudioChatCompletionRequest = ChatCompletionRequest.safeExtend(requestFields).meta({
  id: "LmStudioChatCompletionRequest",
});
export type LmStudioChatCompletionRequest = z.infer<typeof LmStudioChatCompletionRequest>;

/** The body of `POST /api/v0/completions`. */
export const LmStudioCompletionRequest = CompletionRequest.safeExtend(requestFields).meta({
  id: "LmStudioCompletionRequest",
});
export type LmStudioCompletionRequest = z.infer<typeof LmStudioCompletionRequest>;

const StopReason = z.enum([
  "eosFound",
  "stopStringFound",
  "toolCalls",
  "maxPredictedTokensReached",
  "contextLengthReached",
]);

const performanceFields = {
  stats: z.object({
    tokens_per_second: z.number().describe("Of the tokens after the first."),
    time_to_first_token: z.number().describe("Seconds from the engine's start of the request."),
    generation_time: z.number().describe("Seconds from the first token to the last."),
    stop_reason: StopReason,
  }),
  model_info: z.object({
    arch: z.string(),
    quant: z.string(),
    format: z.literal("gguf"),
    context_length: z.int().describe("Tokens of one request."),
  }),
  runtime: z.object({
    name: z.string(),
    version: z.string(),
    supported_formats: z.array(z.string()),
  }),
};
export type LmStudioPerformance = z.infer<z.ZodObject<typeof performanceFields>>;
export type LmStudioStopReason = z.infer<typeof StopReason>;

/** In a stream, the last chunk of a choice has them. */
const chunkFields = z.object(performanceFields).partial().shape;

export const LmStudioChatCompletion = responseObject("LmStudioChatCompletion", {
  ...ChatCompletion.shape,
  ...performanceFields,
});
export const LmStudioChatCompletionChunk = responseObject("LmStudioChatCompletionChunk", {
  ...ChatCompletionChunk.shape,
  ...chunkFields,
});
export const LmStudioCompletion = responseObject("LmStudioCompletion", {
  ...Completion.shape,
  ...performanceFields,
});
export const LmStudioCompletionChunk = responseObject("LmStudioCompletionChunk", {
  ...CompletionChunk.shape,
  ...chunkFields,
});
