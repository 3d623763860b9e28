// The text completion request, the convention's older one, checked once where it comes in, and the two forms of its
// answer. Used by the server's /v1/completions route; the client takes its types from here.
import { z } from "zod";

import { optionalField } from "./absent.ts";
import { ignoredSampling, ignoredService } from "./ignored.ts";
import { textLengthMax } from "./messages.ts";
import { completionsMax, CompletionPrompt, promptsOf } from "./prompts.ts";
import {
  choicesField,
  engineFields,
  flag,
  servedModelField,
  streamFields,
  userField,
} from "./request-fields.ts";
import { formatFields, refineFormat } from "./response-format.ts";
import { refinePenalties, samplingFields, tokenLimit } from "./sampling.ts";
import { Timings, Usage } from "./usage.ts";

/** Tokens of a reply whose request does not say: the convention's default, unlike a chat's. */
export const completionTokensDefault = 16;

/** Most of the likeliest tokens told beside each token, as the convention has it. */
export const completionLogprobsMax = 5;

const logprobsRule = `logprobs must be an integer from 0 to ${completionLogprobsMax}`;
const bestOfRule = "best_of must be an integer of at least 1";
const suffixRule = `suffix must be a string of at most ${textLengthMax} characters`;

/**
 * The body of `POST /v1/completions`. `null` means absent and unknown fields are ignored. One parse finds every wrong
 * field and every contradiction; each issue's path is the field.
 */
export const CompletionRequest = z
  .looseObject(
    {
      model: servedModelField,
      prompt: CompletionPrompt,
      suffix: optionalField(z.string(suffixRule).max(textLengthMax, suffixRule), {
        description: "What comes after the reply, which fills the gap. The empty text is none.",
      }),
      echo: flag("echo", { description: "Begins the text of every choice with its prompt.", default: false }),
      ...samplingFields,
      max_tokens: tokenLimit(
        "max_tokens",
        `Most tokens of a reply, at least 1; -1 is no limit, and ${completionTokensDefault} the default.`,
      ),
      n: choicesField,
      best_of: optionalField(z.int(bestOfRule).min(1, bestOfRule), {
        description: "The same as n: every reply that is made is given.",
      }),
      logprobs: optionalField(
        z.int(logprobsRule).min(0, logprobsRule).max(completionLogprobsMax, logprobsRule),
        { description: "Tells how likely each token was, and so many of the likeliest. Not with echo." },
      ),
      ...formatFields,
      ...streamFields,
      ...engineFields,
      user: userField,
      ...ignoredSampling,
      ...ignoredService,
    },
    "the body must be a JSON object",
  )
  .superRefine(refinePenalties)
  .superRefine(refineFormat)
  .superRefine((request, context) => {
    const refuse = (field: string, message: string) =>
      context.addIssue({ code: "custom", path: [field], message });
    const { n = 1, best_of: bestOf = n, suffix = "" } = request;
    const prompts = promptsOf(request.prompt);
    if (bestOf !== n) refuse("best_of", "best_of must be n: every reply that is made is given");
    if (prompts.length * n > completionsMax)
      refuse("n", `n times the number of prompts must be at most ${completionsMax}`);
    if (request.echo === true && request.logprobs !== undefined)
      refuse("logprobs", "logprobs and echo exclude each other: how likely a prompt is is not computed");
    if (suffix !== "" && prompts.some((prompt) => typeof prompt !== "string"))
      refuse("suffix", "suffix needs prompts that are texts, not token ids");
  })
  .meta({ id: "CompletionRequest" });
/** A checked request. */
export type CompletionRequest = z.infer<typeof CompletionRequest>;
/** A request as a client may write it: with `null` for absent. */
export type CompletionBody = z.input<typeof CompletionRequest>;

/** Why a completion ended: by itself or at a stop string; at a token limit. */
export const CompletionFinishReason = z.enum(["stop", "length"]).meta({
  id: "CompletionFinishReason",
  description: "stop: by itself or at a stop string; length: at a limit of tokens.",
});
export type CompletionFinishReason = z.infer<typeof CompletionFinishReason>;

/** Of every token of a choice, or of a chunk of it: lists of one length. */
export const CompletionLogprobs = z
  .object({
    tokens: z
      .array(z.string())
      .meta({ description: "The tokens' texts; a part of a character is written bytes:\\x…" }),
    token_logprobs: z
      .array(z.number())
      .meta({ description: "Natural logarithms of their probabilities; -9999 where one is 0." }),
    top_logprobs: z
      .array(z.record(z.string(), z.number()))
      .meta({ description: "The likeliest tokens in the place of each, and the token itself." }),
    text_offset: z
      .array(z.int())
      .meta({ description: "Where each begins in the choice's text, in Unicode characters." }),
  })
  .meta({ id: "CompletionLogprobs" });
export type CompletionLogprobs = z.infer<typeof CompletionLogprobs>;

const answerFields = {
  id: z.string().meta({ description: "cmpl-…, the same in every chunk of a reply." }),
  object: z.literal("text_completion"),
  created: z.int().meta({ description: "Unix seconds." }),
  model: z.string(),
  system_fingerprint: z.string().meta({ description: "The same from the same weights and arithmetic." }),
};

const choiceFields = {
  index: z.int().meta({ description: "Counts all replies to the first prompt, then those to the next one." }),
  text: z.string(),
  logprobs: CompletionLogprobs.nullable(),
};

/** The whole reply, when `stream` is not true. */
export const Completion = z
  .object({
    ...answerFields,
    choices: z.array(z.object({ ...choiceFields, finish_reason: CompletionFinishReason })),
    usage: Usage,
    timings: Timings,
  })
  .meta({ id: "Completion" });
export type Completion = z.infer<typeof Completion>;

/** One event of a streamed reply. Only the last one, sent on `include_usage`, has no choices. */
export const CompletionChunk = z
  .object({
    ...answerFields,
    choices: z.array(z.object({ ...choiceFields, finish_reason: CompletionFinishReason.nullable() })),
    usage: Usage.nullable().optional(),
    timings: Timings.partial().optional().meta({
      description:
        "Whole in the chunk with the finish reason; before it, on timings_per_token, what is known so far.",
    }),
  })
  .meta({ id: "CompletionChunk" });
export type CompletionChunk = z.infer<typeof CompletionChunk>;
