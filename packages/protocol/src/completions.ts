// POST /v1/completions: the request, and the response, complete or in chunks.
import { z } from "zod";

import {
  flag,
  integerField,
  optionalField,
  responseObject,
  stringField,
  refuseField,
} from "./fields/field.ts";
import { textLengthMax } from "./fields/content.ts";
import { ignoredField, ignoredLimits, ignoredService } from "./fields/ignored-fields.ts";
import {
  bodyRule,
  choicesField,
  choicesMax,
  engineFields,
  servedModelField,
  streamFields,
  tokenLimit,
  userField,
} from "./fields/request-fields.ts";
import { promptProgress, replyTokens, reportFields } from "./fields/report-fields.ts";
import { formatFieldsWithVllm, refineFormat } from "./fields/response-format.ts";
import { refineSampling, samplingFields } from "./fields/sampling.ts";
import { areTokenIds, hasItemsAtMost, sizePrecheck, tokenIds, tokensMax } from "./fields/size-precheck.ts";
import { ChunkTimings, Timings, Usage } from "./usage.ts";

/** Maximum number of tokens per reply if the request gives no limit: the default of this API, but not of chats. */
export const completionTokensDefault = 16;

/** Maximum number of alternatives listed for each token, as in the original API. */
export const completionLogprobsMax = 5;

/** Maximum number of prompts per request, and of replies to all of them together: each reply is queued separately. */
export const completionsMax = 128;

const promptRule =
  `prompt must be a text of at most ${textLengthMax} characters, 1 to ${tokensMax} token ids, ` +
  `or an array of 1 to ${completionsMax} of either`;

const promptText = z.string(promptRule).max(textLengthMax, promptRule);

/** An array that is longer than a list of prompts can only be the token ids of one prompt. */
function isPromptSmallEnough(value: unknown): boolean {
  return hasItemsAtMost(completionsMax)(value) || areTokenIds(value);
}

export const CompletionPrompt = sizePrecheck(
  z.union(
    [
      promptText,
      tokenIds(promptRule),
      z.array(promptText, promptRule).min(1, promptRule).max(completionsMax, promptRule),
      z.array(tokenIds(promptRule), promptRule).min(1, promptRule).max(completionsMax, promptRule),
    ],
    promptRule,
  ),
  isPromptSmallEnough,
  promptRule,
).meta({
  id: "CompletionPrompt",
  description: "A text, its token ids, or several of either; each prompt gets replies of its own.",
});
export type CompletionPrompt = z.infer<typeof CompletionPrompt>;

/** The prompts one by one. */
export function promptList(prompt: CompletionPrompt): readonly (string | Int32Array)[] {
  return typeof prompt === "string" || prompt instanceof Int32Array ? [prompt] : prompt;
}

/**
 * The body of `POST /v1/completions`. `null` means absent, and unknown fields are ignored. One parse finds every wrong field
 * and every contradiction; the path of each issue is the field.
 */
export const CompletionRequest = z
  .looseObject(
    {
      model: servedModelField,
      prompt: CompletionPrompt,
      suffix: optionalField(
        stringField("suffix", { max: textLengthMax }),
        "The text after the reply, which then fills the gap. The empty string means none.",
      ),
      echo: flag("echo", "Starts the text of every choice with its prompt.", false),
      ...samplingFields,
      max_tokens: tokenLimit(
        "max_tokens",
        `Maximum number of tokens per reply; 0 only computes the prompt, -1 means no limit. Default ${completionTokensDefault}.`,
        { min: 0 },
      ),
      n: choicesField,
      best_of: optionalField(
        integerField("best_of", { min: 1, max: choicesMax }),
        "The number of replies that are generated; the n whose tokens are likeliest on average are returned, best first. At least n, its default. Cannot be combined with stream.",
      ),
      logprobs: optionalField(
        integerField("logprobs", { min: 0, max: completionLogprobsMax }),
        "Returns the log probability of each token and of this many alternatives; with echo, also of each token of the prompt.",
      ),
      ...reportFields,
      ...formatFieldsWithVllm,
      ...streamFields,
      ...engineFields,
      user: userField,
      ...ignoredLimits,
      thinking_budget_tokens: ignoredField("a text is no chat, so nothing in it is known as a thought", [-1]),
      ...ignoredService,
    },
    bodyRule,
  )
  .superRefine(refineSampling)
  .superRefine(refineFormat)
  .superRefine((request, context) => {
    const refuse = (field: string, message: string) => refuseField(context, field, message);
    const { n = 1, best_of: bestOf = n, suffix = "" } = request;
    const prompts = promptList(request.prompt);
    if (bestOf < n) refuse("best_of", "best_of must be at least n");
    if (bestOf > n && request.stream === true)
      refuse("best_of", "best_of above n and stream exclude each other: the best reply is known at the end");
    if (prompts.length * Math.max(n, bestOf) > completionsMax)
      refuse(
        bestOf > n ? "best_of" : "n",
        `n or best_of times the number of prompts must be at most ${completionsMax}`,
      );
    if (request.echo === true && request.logprobs !== undefined && suffix !== "")
      refuse("suffix", "suffix cannot be combined with both echo and logprobs");
    if (suffix !== "" && prompts.some((prompt) => typeof prompt !== "string"))
      refuse("suffix", "suffix needs prompts that are texts, not token ids");
  })
  .meta({ id: "CompletionRequest" });
/** A checked request. */
export type CompletionRequest = z.infer<typeof CompletionRequest>;
/** A request as clients write it: `null` means absent. */
export type CompletionBody = z.input<typeof CompletionRequest>;

export const CompletionFinishReason = z.enum(["stop", "length"]).meta({
  id: "CompletionFinishReason",
  description: "Why the reply ended. stop: on its own or at a stop string; length: at a token limit.",
});
export type CompletionFinishReason = z.infer<typeof CompletionFinishReason>;

/** Log probabilities of every token of a choice, or of a chunk of it: lists of equal length. */
export const CompletionLogprobs = responseObject("CompletionLogprobs", {
  tokens: z.array(z.string()).describe("The tokens' texts; a partial character is written bytes:\\x…"),
  token_logprobs: z
    .array(z.number().nullable())
    .describe(
      "Natural logarithms of their probabilities; -9999 if one is 0, null for the first token of a prompt.",
    ),
  top_logprobs: z
    .array(z.record(z.string(), z.number()).nullable())
    .describe(
      "The likeliest tokens at each position, and the token itself; null for the first token of a prompt.",
    ),
  text_offset: z.array(z.int()).describe("Where each starts in the choice's text, in Unicode characters."),
});
export type CompletionLogprobs = z.infer<typeof CompletionLogprobs>;

const completionFields = {
  id: z.string().describe("cmpl-…, the same in every chunk."),
  object: z.literal("text_completion"),
  created: z.int().describe("Unix seconds."),
  model: z.string(),
  system_fingerprint: z.string().describe("Identifies the weights and the arithmetic."),
};

const choiceFields = {
  index: z.int().describe("Numbers the replies to the first prompt, then those to the next."),
  text: z.string(),
  logprobs: CompletionLogprobs.nullable(),
  tokens: replyTokens,
};

/** The response if `stream` is not true. */
export const Completion = responseObject("Completion", {
  ...completionFields,
  choices: z.array(z.object({ ...choiceFields, finish_reason: CompletionFinishReason })),
  usage: Usage,
  timings: Timings,
});
export type Completion = z.infer<typeof Completion>;

/** One event of a streamed response. Only the last one, sent for `include_usage`, has no choices. */
export const CompletionChunk = responseObject("CompletionChunk", {
  ...completionFields,
  choices: z.array(z.object({ ...choiceFields, finish_reason: CompletionFinishReason.nullable() })),
  usage: Usage.nullable().optional(),
  timings: ChunkTimings,
  prompt_progress: promptProgress,
});
export type CompletionChunk = z.infer<typeof CompletionChunk>;
