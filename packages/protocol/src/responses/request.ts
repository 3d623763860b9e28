// The request of POST /v1/responses, checked once where it comes in. The server keeps nothing between requests, so what
// would need that is refused. Used by the server's /v1/responses route; the client takes its types from here.
import { z } from "zod";

import { optionalField } from "../absent.ts";
import { arrayOf, hasAtMost, inBounds } from "../in-bounds.ts";
import { ignoredField, ignoredSampling, ignoredService } from "../ignored.ts";
import { topLogprobsField } from "../logprobs.ts";
import { textField } from "../messages.ts";
import { flag, servedModelField, refusedField, userField, userLengthMax } from "../request-fields.ts";
import { refinePenalties, samplingFields, tokenLimit } from "../sampling.ts";
import { effortField, thinkingFields } from "../thinking.ts";
import { ResponsesInput } from "./input.ts";
import { refineResponsesTools, responsesToolFields } from "./tools.ts";

/** Most pairs of `metadata`, and most characters of a name and a value: what the convention allows. */
export const metadataMax = 16;
export const metadataNameMax = 64;
export const metadataValueMax = 512;

/** Most entries of `include`: more than there are things to include. */
export const includeMax = 32;

const metadataRule = `metadata must be an object of at most ${metadataMax} strings of at most ${metadataValueMax} characters, with names of at most ${metadataNameMax}`;
const includeRule = `include must be an array of at most ${includeMax} strings`;

/** What is told beside the reply only when it is asked for. */
export const logprobsIncludable = "message.output_text.logprobs";

const stateless = "this server keeps nothing between requests";

/** A name that is only given back. */
function echoField(name: string) {
  const rule = `${name} must be a string of at most ${userLengthMax} characters`;
  return optionalField(z.string(rule).max(userLengthMax, rule));
}

const { max_tokens: _max, max_completion_tokens: _maxCompletion, ...samplingOfReply } = samplingFields;

const metadata = inBounds(
  z.record(
    z.string().max(metadataNameMax, metadataRule),
    z.string(metadataRule).max(metadataValueMax, metadataRule),
    metadataRule,
  ),
  hasAtMost(metadataMax),
  metadataRule,
);

/** What a model may think. Its words are told whole, so there is no summary of them. */
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
 * The body of `POST /v1/responses`. `null` means absent and unknown fields are ignored. One parse finds every wrong
 * field and every contradiction; each issue's path is the field.
 */
export const ResponsesRequest = z
  .looseObject(
    {
      model: servedModelField,
      input: ResponsesInput,
      /** Said to the model before everything else, as its system message. */
      instructions: optionalField(textField("instructions")),
      max_output_tokens: tokenLimit(
        "max_output_tokens",
        "Most tokens of the reply, at least 1; no limit where it is absent.",
      ),
      ...samplingOfReply,
      include: optionalField(
        arrayOf(z.string(includeRule).max(256, includeRule), includeRule, { max: includeMax }),
      ),
      top_logprobs: topLogprobsField,
      ...responsesToolFields,
      reasoning: optionalField(reasoning),
      chat_template_kwargs: thinkingFields.chat_template_kwargs,
      stream: flag("stream"),
      cache_prompt: flag("cache_prompt"),
      ignore_eos: flag("ignore_eos"),
      metadata: optionalField(metadata),
      user: userField,
      safety_identifier: echoField("safety_identifier"),
      prompt_cache_key: echoField("prompt_cache_key"),
      truncation: optionalField(z.enum(["auto", "disabled"], 'truncation must be "auto" or "disabled"')),
      /** Accepted with either value: nothing is kept, and the answer says so. */
      store: ignoredField("nothing is stored, and the answer says so", [false]),
      ...ignoredSampling,
      ...ignoredService,
      max_tool_calls: ignoredField("it counts calls of the server's own tools, of which there are none"),
      context_management: ignoredField("what happens to a long conversation is the server's setting"),
      previous_response_id: refusedField(
        `${stateless}: send the earlier items as input instead of previous_response_id`,
      ),
      conversation: refusedField(`${stateless}: send the earlier items as input instead of a conversation`),
      prompt: refusedField(`${stateless}: send the prompt's text as instructions and input`),
      background: optionalField(
        z.literal(false, `background must be false, for ${stateless}; stream a reply that takes long`),
      ),
    },
    "the body must be a JSON object",
  )
  .superRefine(refinePenalties)
  .superRefine(refineResponsesTools)
  .meta({ id: "ResponsesRequest" });
/** A checked request. */
export type ResponsesRequest = z.infer<typeof ResponsesRequest>;
/** A request as a client may write it: with `null` for absent. */
export type ResponsesBody = z.input<typeof ResponsesRequest>;
