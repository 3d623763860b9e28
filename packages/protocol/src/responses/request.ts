// The request of POST /v1/responses. The server keeps nothing between requests, so fields that refer to earlier ones are refused.
import { z } from "zod";

import { flag, optionalField, refusedField, stringField } from "../fields/field.ts";
import { textField } from "../fields/content.ts";
import { ignoredField, ignoredSampling, ignoredService } from "../fields/ignored-fields.ts";
import { topLogprobsField } from "../fields/logprobs.ts";
import {
  bodyRule,
  servedModelField,
  tokenLimit,
  userField,
  userLengthMax,
} from "../fields/request-fields.ts";
import { refinePenalties, samplingFields } from "../fields/sampling.ts";
import { arrayOf, hasEntriesAtMost, sizePrecheck } from "../fields/size-precheck.ts";
import { effortField, templateFields } from "../fields/template-fields.ts";
import { ResponsesInput } from "./input.ts";
import { refineResponsesTools, responsesToolFields } from "./tools.ts";

/** The most pairs of `metadata`, and the most characters of a name and a value, as in OpenAI's API. */
export const metadataMax = 16;
export const metadataNameMax = 64;
export const metadataValueMax = 512;

/** The most entries of `include`: more than there are values for it. */
export const includeMax = 32;

const metadataRule = `metadata must be an object of at most ${metadataMax} strings of at most ${metadataValueMax} characters, with names of at most ${metadataNameMax}`;
const includeRule = `include must be an array of at most ${includeMax} strings`;

/** The value of `include` that requests log probabilities. */
export const logprobsIncludable = "message.output_text.logprobs";

const stateless = "the server keeps nothing between requests";

/** A name that the response only repeats. */
function echoField(name: string) {
  return optionalField(stringField(name, { max: userLengthMax }));
}

const { max_tokens: _max, max_completion_tokens: _maxCompletion, ...responsesSampling } = samplingFields;

const metadata = sizePrecheck(
  z.record(
    z.string().max(metadataNameMax, metadataRule),
    z.string(metadataRule).max(metadataValueMax, metadataRule),
    metadataRule,
  ),
  hasEntriesAtMost(metadataMax),
  metadataRule,
);

/** How much to reason. The response has the whole reasoning, so there are no summaries. */
const reasoning = z.looseObject(
  {
    effort: effortField("effort"),
    summary: optionalField(
      z.enum(["auto", "concise", "detailed"], "summary must be one of auto, concise, detailed"),
    ),
  },
  "reasoning must be an object",
);

/**
 * The body of `POST /v1/responses`. `null` means absent, and unknown fields are ignored. One parse finds every wrong field and
 * every contradiction; the path of each issue is the field.
 */
export const ResponsesRequest = z
  .looseObject(
    {
      model: servedModelField,
      input: ResponsesInput,
      instructions: optionalField(textField("instructions"), "The system message."),
      max_output_tokens: tokenLimit(
        "max_output_tokens",
        "The most tokens of the reply, at least 1; no limit if absent.",
      ),
      ...responsesSampling,
      include: optionalField(
        arrayOf(z.string(includeRule).max(256, includeRule), includeRule, { max: includeMax }),
      ),
      top_logprobs: topLogprobsField,
      ...responsesToolFields,
      reasoning: optionalField(reasoning),
      chat_template_kwargs: templateFields.chat_template_kwargs,
      stream: flag("stream"),
      cache_prompt: flag("cache_prompt"),
      ignore_eos: flag("ignore_eos"),
      metadata: optionalField(metadata),
      user: userField,
      safety_identifier: echoField("safety_identifier"),
      prompt_cache_key: echoField("prompt_cache_key"),
      truncation: optionalField(z.enum(["auto", "disabled"], 'truncation must be "auto" or "disabled"')),
      store: ignoredField("nothing is stored, and the response says so", [false]),
      ...ignoredSampling,
      ...ignoredService,
      max_tool_calls: ignoredField("it limits calls of built-in tools, and the server has none"),
      context_management: ignoredField("the server's settings decide what happens to long conversations"),
      previous_response_id: refusedField(
        `${stateless}: send the earlier items as input instead of previous_response_id`,
      ),
      conversation: refusedField(`${stateless}: send the earlier items as input instead of a conversation`),
      prompt: refusedField(`${stateless}: send the prompt's text as instructions and input`),
      background: optionalField(
        z.literal(false, `background must be false: ${stateless}; stream long replies`),
      ),
    },
    bodyRule,
  )
  .superRefine(refinePenalties)
  .superRefine(refineResponsesTools)
  .meta({ id: "ResponsesRequest" });
/** A checked request. */
export type ResponsesRequest = z.infer<typeof ResponsesRequest>;
/** A request as clients write it: `null` means absent. */
export type ResponsesBody = z.input<typeof ResponsesRequest>;
