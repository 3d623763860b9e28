// Fields that requests of several endpoints have in common, and their rules. Used by the schemas of those endpoints.
import { z } from "zod";

import { optionalField, type FieldMeaning } from "./absent.ts";

/** Most UTF-16 units of a model's id. */
export const modelLengthMax = 512;

/** Most UTF-16 units of `user`: an address, an id or a few of them joined, not a document. */
export const userLengthMax = 512;

/** Most replies to one request. */
export const choicesMax = 16;

const modelRule = `model must be a string of at most ${modelLengthMax} characters`;
const userRule = `user must be a string of at most ${userLengthMax} characters`;
const choicesRule = `n must be an integer from 1 to ${choicesMax}`;

export function flag(name: string, meaning: FieldMeaning = {}) {
  return optionalField(z.boolean(`${name} must be true or false`), meaning);
}

/** A field that would change what a reply is, and that no reply can follow. */
export function refusedField(message: string) {
  return optionalField(z.never(message), { description: `Refused: ${message}.` });
}

export const modelField = z
  .string(modelRule)
  .max(modelLengthMax, modelRule)
  .meta({ description: "An id of GET /v1/models." });

/** The same where it may be left out: whether it may is the server's variant's to say. */
export const servedModelField = optionalField(modelField, {
  description: "An id of GET /v1/models; may be left out where the server's variant serves one model.",
});

/** For whom the client asks; the server shares its work among users. The empty string says nothing. */
export const userField = optionalField(z.string(userRule).max(userLengthMax, userRule), {
  description:
    "For whom the client asks: the server shares its work among users where no key tells them apart.",
});

export const choicesField = optionalField(
  z.int(choicesRule).min(1, choicesRule).max(choicesMax, choicesRule),
  { description: "How many replies to the same prompt.", default: 1 },
);

export const streamFields = {
  stream: flag("stream", {
    description: "Sends the reply as it grows, as server-sent events.",
    default: false,
  }),
  stream_options: optionalField(
    z.looseObject(
      {
        include_usage: flag("include_usage", {
          description: "Adds a last event with the usage.",
          default: false,
        }),
      },
      "stream_options must be an object",
    ),
    { description: "Read only when stream is true." },
  ),
};

/** What the engine is asked for beside sampling, by llama.cpp's names. */
export const engineFields = {
  cache_prompt: flag("cache_prompt", {
    description:
      "Starts with what requests that begin alike have computed, and leaves this one to later ones.",
    default: true,
  }),
  timings_per_token: flag("timings_per_token", {
    description: "Adds the timings so far to every streamed event with text.",
    default: false,
  }),
  ignore_eos: flag("ignore_eos", {
    description: "Goes on past the model's own end; for benchmarks.",
    default: false,
  }),
};
