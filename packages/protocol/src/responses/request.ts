// The request of POST /v1/responses.
import { z } from "zod";

import { loraField } from "../fields/adapters.ts";
import { flag, optionalField, refusedField, refuseField, stringField } from "../fields/field.ts";
import { textField } from "../fields/content.ts";
import { ignoredField, ignoredLimits, ignoredService } from "../fields/ignored-fields.ts";
import { topLogprobsField } from "../fields/logprobs.ts";
import {
  bodyRule,
  cacheSaltField,
  identityFields,
  servedModelField,
  tokenLimit,
  userField,
} from "../fields/request-fields.ts";
import { refineSampling, samplingFields } from "../fields/sampling.ts";
import { boundedArray, hasEntriesAtMost, sizePrecheck } from "../fields/size-precheck.ts";
import {
  effortField,
  templateFields,
  thinkingLimitField,
  thinkingLimitFields,
} from "../fields/template-fields.ts";
import { inputItems, ResponsesInput } from "./input.ts";
import { refineResponsesTools, responsesToolFields } from "./tools.ts";

/** Maximum number of pairs in `metadata`, and the maximum length of a name and of a value in characters, as in OpenAI's API. */
export const metadataMax = 16;
export const metadataNameMax = 64;
export const metadataValueMax = 512;

/** Maximum number of entries in `include`: more than there are values for it. */
export const includeMax = 32;

const metadataRule = `metadata must be an object of at most ${metadataMax} strings of at most ${metadataValueMax} characters, with names of at most ${metadataNameMax}`;
const includeRule = `include must be an array of at most ${includeMax} strings`;

/** The value of `include` that requests log probabilities. */
export const logprobsIncludable = "message.output_text.logprobs";

const { max_tokens: _max, max_completion_tokens: _maxCompletion, ...responsesSampling } = samplingFields;

/** Pairs that are returned as given. */
export const metadataField = sizePrecheck(
  z.record(
    z.string().max(metadataNameMax, metadataRule),
    z.string(metadataRule).max(metadataValueMax, metadataRule),
    metadataRule,
  ),
  hasEntriesAtMost(metadataMax),
  metadataRule,
);

/** Maximum length of the id of a response, a conversation or an item, in UTF-16 units; the server's own ids are half as long. */
export const storedIdLengthMax = 64;

const conversationRule = "conversation must be the id of a conversation, or an object with its id";

/** The id of a conversation, as it is or in an object; it becomes the id. */
const conversation = z
  .union(
    [
      z.string(),
      z.looseObject({ id: z.string(conversationRule) }, conversationRule).transform(({ id }) => id),
    ],
    conversationRule,
  )
  .pipe(z.string(conversationRule).min(1, conversationRule).max(storedIdLengthMax, conversationRule));

/** How much to reason. The response has the whole reasoning, so there are no summaries. */
const reasoning = z.looseObject(
  {
    effort: effortField("effort"),
    max_tokens: thinkingLimitField("max_tokens"),
    summary: optionalField(
      z.enum(["auto", "concise", "detailed"], "summary must be one of auto, concise, detailed"),
    ),
    context: ignoredField("templates decide which reasoning of earlier replies they include", ["auto"]),
    mode: ignoredField("there is one mode", ["standard"]),
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
      input: optionalField(
        ResponsesInput,
        "A text, or items; may be absent only in a request that continues a response or a conversation.",
      ),
      instructions: optionalField(textField("instructions"), "The system message."),
      max_output_tokens: tokenLimit(
        "max_output_tokens",
        "Maximum number of tokens in the reply, at least 1; no limit if absent.",
      ),
      ...responsesSampling,
      include: optionalField(
        boundedArray(z.string(includeRule).max(256, includeRule), includeRule, { max: includeMax }),
      ),
      top_logprobs: topLogprobsField,
      ...responsesToolFields,
      reasoning: optionalField(reasoning),
      chat_template_kwargs: templateFields.chat_template_kwargs,
      stream: flag("stream"),
      cache_prompt: flag("cache_prompt"),
      cache_salt: cacheSaltField,
      ignore_eos: flag("ignore_eos"),
      lora: loraField,
      metadata: optionalField(metadataField),
      user: userField,
      ...identityFields,
      truncation: optionalField(z.enum(["auto", "disabled"], 'truncation must be "auto" or "disabled"')),
      store: flag(
        "store",
        "Keeps the response for later requests. Default: true, unless the server stores no responses.",
      ),
      background: flag(
        "background",
        "Returns at once, while the response is generated. It has to be stored.",
        false,
      ),
      previous_response_id: optionalField(
        stringField("previous_response_id", { min: 1, max: storedIdLengthMax }),
        "A stored response that this one continues: its input and output come before this input.",
      ),
      conversation: optionalField(
        conversation,
        "A conversation: its items come before this input, and it gets the input and the output.",
      ),
      ...thinkingLimitFields,
      ...ignoredLimits,
      ...ignoredService,
      max_tool_calls: ignoredField("it limits calls of built-in tools, and the server has none"),
      context_management: ignoredField("the server's settings decide what happens to long conversations"),
      prompt: refusedField(
        "the server has no stored prompts: send the prompt's text as instructions and input",
      ),
    },
    bodyRule,
  )
  .superRefine(refineSampling)
  .superRefine(refineResponsesTools)
  .superRefine(refineStored)
  .superRefine(refineInput)
  .meta({ id: "ResponsesRequest" });
/** A checked request. */
export type ResponsesRequest = z.infer<typeof ResponsesRequest>;
/** A request as clients write it: `null` means absent. */
export type ResponsesBody = z.input<typeof ResponsesRequest>;

interface StoredFields {
  store?: boolean | undefined;
  background?: boolean | undefined;
  previous_response_id?: string | undefined;
  conversation?: string | undefined;
}

function refineInput(
  request: StoredFields & { input?: ResponsesInput | undefined },
  context: z.RefinementCtx,
): void {
  if (request.previous_response_id !== undefined || request.conversation !== undefined) return;
  if (inputItems(request.input).length === 0)
    refuseField(
      context,
      "input",
      "input must be a string or at least one item, unless previous_response_id or conversation is given",
    );
}

function refineStored(request: StoredFields, context: z.RefinementCtx): void {
  if (request.background === true && request.store === false)
    refuseField(
      context,
      "background",
      "background needs store: a response that is not stored cannot be fetched",
    );
  if (request.conversation !== undefined && request.previous_response_id !== undefined)
    refuseField(context, "conversation", "conversation and previous_response_id exclude each other");
}
