// What messages are made of in every protocol: names, texts, images and content parts, with their limits.
import { z } from "zod";

import { requestObject, stringField } from "./field.ts";
import { hasItemsAtMost, sizePrecheck } from "./size-precheck.ts";

/** Maximum number of messages per request: longer than any conversation that a context holds. */
export const messagesMax = 10_000;

/** Maximum number of content parts per message. */
export const partsMax = 1_000;

/** Maximum number of content parts of all messages together: each wrong one is an issue, and a body may hold millions. */
export const partsOfAllMax = 20_000;

/** Maximum length of one text, in UTF-16 units: about two million tokens of English, more than any context holds. */
export const textLengthMax = 8 * 1024 * 1024;

/** Maximum length of an image's URL, in UTF-16 units: base64 of an image of 48 MiB. */
export const imageUrlLengthMax = 64 * 1024 * 1024;

/** Maximum length of a document's data, in UTF-16 units: base64 of 36 MiB. */
const documentLengthMax = 48 * 1024 * 1024;

/** Maximum length of an audio's data, in UTF-16 units: base64 of a file of 36 MiB. */
const audioDataLengthMax = 48 * 1024 * 1024;

/** Maximum length of a name or an id inside a message, in UTF-16 units. */
export const nameLengthMax = 256;

/** A name or an id. */
export function nameField(name: string) {
  return stringField(name, { min: 1, max: nameLengthMax });
}

export function textField(name: string) {
  return stringField(name, { max: textLengthMax });
}

/** An image's URL. The image itself is checked when it is decoded. */
export function imageUrlField(name: string) {
  const rule = `${name} must be a data URL of the form data:<mime type>;base64,<data>`;
  return z.string(rule).min(1, rule).max(imageUrlLengthMax, rule);
}

/** A document's data. Whether it is a PDF or text is seen when it is read. */
export function documentField(name: string) {
  const rule = `${name} must be base64 or a data URL of at most ${documentLengthMax} characters`;
  return z.string(rule).min(1, rule).max(documentLengthMax, rule);
}

/** An audio file in base64. The file itself is checked when it is decoded. */
function audioDataField(name: string) {
  const rule = `${name} must be an audio file in base64`;
  return z.string(rule).min(1, rule).max(audioDataLengthMax, rule);
}

/** The formats of audio files. The bytes of a file decide how it is decoded. */
export const AudioFormat = z.enum(["wav", "mp3", "flac"], "format must be wav, mp3 or flac");

/** An audio inside a user's message. */
export const AudioPart = requestObject("AudioPart", {
  type: z.literal("input_audio", 'type must be "input_audio"'),
  input_audio: z.looseObject(
    { data: audioDataField("data"), format: AudioFormat },
    "input_audio must be an object with data and format",
  ),
});
export type AudioPart = z.infer<typeof AudioPart>;

/** A piece of text inside a message. */
export const TextPart = requestObject("TextPart", {
  type: z.literal("text", 'type must be "text"'),
  text: textField("text"),
});
export type TextPart = z.infer<typeof TextPart>;

/**
 * A text or a list of parts. A reply and the result of a tool may be an empty list, because they may be empty themselves; what
 * somebody wrote may not.
 */
export function contentSchema<Part extends z.ZodType>(
  part: Part,
  { name = "content", min = 1 }: { name?: string; min?: 0 | 1 } = {},
) {
  const count = min === 0 ? `at most ${partsMax}` : `1 to ${partsMax}`;
  const rule = `${name} must be a string or an array of ${count} content parts`;
  const text = z.string(rule).max(textLengthMax, `${name} must be at most ${textLengthMax} characters`);
  const parts = z.array(part, rule).min(min, rule).max(partsMax, rule);
  return sizePrecheck(z.union([text, parts], rule), hasItemsAtMost(partsMax), rule);
}

/** Messages or items, whose parts are counted before they are validated. */
export function boundedParts<Messages extends z.ZodType>(messages: Messages, name: string) {
  const isSmallEnough = (value: unknown) =>
    !Array.isArray(value) || value.length > messagesMax || countParts(value) <= partsOfAllMax;
  return sizePrecheck(
    messages,
    isSmallEnough,
    `${name} must have at most ${partsOfAllMax} content parts in all`,
  );
}

/** Counts the items of every array in a message, whatever its field, and of the arrays inside those items. */
function countParts(messages: readonly unknown[]): number {
  const parts = messages.flatMap(arraysIn);
  const outer = sumOfLengths(parts);
  if (outer > partsOfAllMax) return outer; // do not look into millions of parts
  return outer + sumOfLengths(parts.flatMap((list) => list.flatMap(arraysIn)));
}

function sumOfLengths(arrays: readonly (readonly unknown[])[]): number {
  return arrays.reduce((sum, { length }) => sum + length, 0);
}

function arraysIn(holder: unknown): unknown[][] {
  if (typeof holder !== "object" || holder === null) return [];
  return Object.values(holder).filter((value) => Array.isArray(value));
}
