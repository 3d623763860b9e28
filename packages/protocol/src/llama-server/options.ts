// The generation options of llama-server's requests. Each field is honoured, refused, or reported as ignored.
import { generationOptions } from "@ingle/generation-options";
import { z } from "zod";

import { flag, integerField, optionalField } from "../fields/field.ts";
import { ignoredField } from "../fields/ignored-fields.ts";
import { llamaServerLogitBias } from "../fields/logit-bias.ts";
import { topLogprobsMax } from "../fields/logprobs.ts";
import { choicesField, engineFields } from "../fields/request-fields.ts";
import { formatFields } from "../fields/response-format.ts";
import { returnProgressField } from "../fields/report-fields.ts";
import { samplingFields, windowField } from "../fields/sampling.ts";

const { repetition_penalty: _alias, ...sampling } = samplingFields;

const limitField = (description: string, byDefault?: number) =>
  optionalField(integerField("n_predict", { min: -1 }), description, byDefault);

const probabilities = (name: string, description: string) =>
  optionalField(integerField(name, { min: 0, max: topLogprobsMax }), description, 0);

/** Only read with a feature that the server does not have. */
const unreadField = (feature: string) =>
  optionalField(
    z.unknown().transform(() => undefined),
    `Only read with ${feature}.`,
  );

const ofChats = "only chats are parsed";
const ofLoading = "the server's settings decide";

export const llamaServerOptions = {
  n_predict: limitField(
    "Maximum number of tokens per reply; -1 means no limit, and 0 only computes the prompt, for later requests.",
    -1,
  ),
  ...sampling,
  max_tokens: limitField("Another name for n_predict."),
  max_completion_tokens: limitField("Another name for n_predict."),
  repeat_last_n: windowField(generationOptions.repeatLastN),
  logit_bias: optionalField(
    llamaServerLogitBias,
    "Pairs of a token id, or a text whose tokens are meant, and a number that is added to their logits; false bans them.",
  ),
  n_probs: probabilities(
    "n_probs",
    "Above 0: returns the log probability of each token, and this many of the likeliest tokens.",
  ),
  logprobs: probabilities("logprobs", "Another name for n_probs."),
  grammar: formatFields.grammar,
  json_schema: formatFields.json_schema,
  n_cmpl: choicesField.describe("The number of replies to each prompt."),
  n: choicesField.describe("Another name for n_cmpl."),
  ...engineFields,
  return_progress: returnProgressField,
  return_tokens: flag(
    "return_tokens",
    "Returns the ids of the reply's tokens; streams always have them.",
    false,
  ),
  response_fields: optionalField(
    z
      .array(
        z.string().max(256, "response_fields must be names"),
        "response_fields must be an array of names",
      )
      .max(64, "response_fields must be at most 64 names"),
    "Returns only these fields; a slash takes one out of an object, as in generation_settings/n_predict.",
  ),
  post_sampling_probs: optionalField(
    z.literal(false, "post_sampling_probs is not supported; probabilities are those before sampling"),
    "Refused unless it is false: probabilities are those before sampling.",
    false,
  ),
  grammar_lazy: optionalField(
    z.literal(false, "grammar_lazy is not supported; a grammar holds for the whole reply"),
    "Refused unless it is false.",
  ),
  grammar_triggers: unreadField("grammar_lazy"),
  min_keep: ignoredField("samplers may leave a single token", [0, 1]),
  n_keep: ignoredField("the server's --context-overflow decides", [0]),
  n_discard: ignoredField("the server's --context-overflow decides", [0]),
  n_indent: ignoredField("lines may begin anywhere", [0]),
  n_cache_reuse: ignoredField("the prefix cache reuses whole prefixes", [0]),
  t_max_predict_ms: ignoredField("use n_predict", [0, -1]),
  sse_ping_interval: ignoredField("a comment is sent every 15 seconds of silence"),
  backend_sampling: ignoredField(ofLoading, [false]),
  verbose: ignoredField("generation_settings are always returned", [false]),
  "speculative.n_max": ignoredField(ofLoading),
  "speculative.n_min": ignoredField(ofLoading),
  "speculative.p_min": ignoredField(ofLoading),
  "speculative.type": ignoredField(ofLoading),
  chat_format: ignoredField(ofChats),
  reasoning_format: ignoredField(ofChats, ["none"]),
  parse_tool_calls: ignoredField(ofChats, [false]),
  preserved_tokens: ignoredField(ofChats),
};
