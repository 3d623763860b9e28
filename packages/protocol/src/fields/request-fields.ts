// Fields that requests of several endpoints have in common.
import { z } from "zod";

import { loraField } from "./adapters.ts";
import { flag, integerField, optionalField, stringField } from "./field.ts";

/** Maximum length of a model's id, in UTF-16 units. */
export const modelLengthMax = 512;

/** Maximum length of `user`, in UTF-16 units: an address or an id, not a document. */
export const userLengthMax = 512;

/** Maximum number of replies to one request. */
export const choicesMax = 16;

/** The error for a body that is not an object. */
export const bodyRule = "the body must be a JSON object";

export const modelField = stringField("model", { max: modelLengthMax }).describe(
  "A model id from GET /v1/models.",
);

/** The model, which may be left out if the server serves a single one. */
export const servedModelField = optionalField(
  modelField,
  "A model id from GET /v1/models; optional if the server's variant serves one model.",
);

/** The end user of the client. The server shares its capacity fairly among users; the empty string means none. */
export const userField = optionalField(
  stringField("user", { max: userLengthMax }),
  "The client's end user. The server shares its capacity among users if they have no keys of their own.",
);

/** What hosted services replaced `user` with. */
export const identityFields = {
  safety_identifier: optionalField(
    stringField("safety_identifier", { max: userLengthMax }),
    "The client's end user, if there is no user.",
  ),
  prompt_cache_key: optionalField(
    stringField("prompt_cache_key", { max: userLengthMax }),
    "Not needed: the prefix cache finds shared prefixes without it.",
  ),
};

export const choicesField = optionalField(
  integerField("n", { min: 1, max: choicesMax }),
  "The number of replies to the same prompt.",
  1,
);

export const streamFields = {
  stream: flag("stream", "Sends the reply while it is generated, as server-sent events.", false),
  stream_options: optionalField(
    z.looseObject(
      {
        include_usage: flag("include_usage", "Adds a last event with the usage.", false),
      },
      "stream_options must be an object",
    ),
    "Only read if stream is true.",
  ),
};

/** vLLM's name. */
export const cacheSaltField = optionalField(
  stringField("cache_salt", { min: 1, max: 256 }),
  "Shares computed prefixes, drafts from earlier replies and slots only with requests of the same key and salt.",
);

/** Fields for the engine other than sampling, with llama.cpp's names. */
export const engineFields = {
  cache_prompt: flag(
    "cache_prompt",
    "Reuses the computed prefix of earlier requests, and keeps this prompt for later ones.",
    true,
  ),
  cache_salt: cacheSaltField,
  timings_per_token: flag(
    "timings_per_token",
    "Adds the timings so far to every streamed event with text.",
    false,
  ),
  lora: loraField,
  id_slot: optionalField(
    integerField("id_slot", { min: -1 }),
    "The slot that names the text for POST /slots/{id}; -1 means the most similar or the oldest idle one.",
    -1,
  ),
  ignore_eos: flag("ignore_eos", "Continues after the model's end-of-text token; for benchmarks.", false),
};

/** A limit on generated tokens; -1 means none. */
export function tokenLimit(name: string, description: string, { min = 1 }: { min?: 0 | 1 } = {}) {
  const rule = `${name} must be an integer of at least ${min}, or -1 for no limit`;
  return optionalField(
    z
      .int(rule)
      .min(-1, rule)
      .refine((value) => value === -1 || value >= min, rule),
    description,
  );
}
