// Fields that requests of several endpoints have in common, and their rules. Used by the schemas of those endpoints.
import { z } from "zod";

import { optionalField } from "./absent.ts";

/** Most UTF-16 units of a model's id. */
export const modelLengthMax = 512;

/** Most UTF-16 units of `user`: an address, an id or a few of them joined, not a document. */
export const userLengthMax = 512;

/** Most replies to one request. */
export const choicesMax = 16;

const modelRule = `model must be a string of at most ${modelLengthMax} characters`;
const userRule = `user must be a string of at most ${userLengthMax} characters`;
const choicesRule = `n must be an integer from 1 to ${choicesMax}`;

export function flag(name: string) {
  return optionalField(z.boolean(`${name} must be true or false`));
}

export const modelField = z.string(modelRule).max(modelLengthMax, modelRule);

/** For whom the client asks; the server shares its work among users. The empty string says nothing. */
export const userField = optionalField(z.string(userRule).max(userLengthMax, userRule));

export const choicesField = optionalField(
  z.int(choicesRule).min(1, choicesRule).max(choicesMax, choicesRule),
);

export const streamFields = {
  stream: flag("stream"),
  /** Read only when `stream` is true. */
  stream_options: optionalField(
    z.looseObject({ include_usage: flag("include_usage") }, "stream_options must be an object"),
  ),
};
