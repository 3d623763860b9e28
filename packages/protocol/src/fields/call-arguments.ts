// The arguments of tool calls in earlier replies, as clients send them back. They may be long, so they are parsed during
// validation, which runs in a thread of its own for large bodies; code behind the schema need not parse them.
import { z } from "zod";

import { isShapeError, numbersMax, parseJsonObject, measureShape, valuesMax } from "../json-shape.ts";
import { sizePrecheck } from "./size-precheck.ts";

/** Maximum length of one call's arguments, in UTF-16 units: the same as of one text. */
const argumentsLengthMax = 8 * 1024 * 1024;

/** Nested objects and arrays: chat templates write them by recursion. */
const argumentsDepthMax = 64;

const depthRule = `a call's arguments must not be nested deeper than ${argumentsDepthMax} levels`;

/** The name under which a template sees arguments that are not a JSON object because a limit cut the reply. */
const cutArgument = "arguments";

/** The arguments of a call: JSON as text, or the start of it if a limit cut the reply. */
export const callArgumentsText = z
  .string("arguments must be a string that holds JSON")
  .max(argumentsLengthMax, "arguments is too long");

/**
 * The same in a request; it becomes the text of a JSON object, because templates iterate over the arguments. Clients send the
 * empty string for a call without arguments, and return a cut text as it was: that becomes a single argument.
 */
export const callArgumentsField = callArgumentsText.transform((text, context) => {
  if (text.trim() === "") return "{}";
  const value = parseJsonObject(text);
  if (value === undefined) return JSON.stringify({ [cutArgument]: text });
  refuseDeeper(value, context);
  return text;
});

/** Arguments that are an object in the body; they become its text. */
export const callInputField = z
  .record(z.string(), z.unknown(), "input must be an object")
  .transform((input, context) => {
    if (refuseDeeper(input, context)) return "{}";
    return JSON.stringify(input);
  });

/** Messages or items, whose calls' arguments are measured before they are parsed: each may be as long as a whole body. */
export function boundedArguments<Messages extends z.ZodType>(messages: Messages) {
  const rule = `the arguments of all calls together must have at most ${valuesMax} values, and ${numbersMax} numbers in arrays`;
  return sizePrecheck(messages, (value) => !Array.isArray(value) || areSmallEnough(value), rule);
}

function areSmallEnough(messages: readonly unknown[]): boolean {
  const encoder = new TextEncoder();
  let [values, numbers] = [0, 0];
  for (const text of messages.flatMap(argumentTexts)) {
    const shape = measureShape(encoder.encode(text));
    if (isShapeError(shape)) return false;
    values += shape.values;
    numbers += shape.numbers;
    if (values > valuesMax || numbers > numbersMax) return false;
  }
  return true;
}

/** The arguments of an item that is a call, or of a message's `tool_calls` or `function_call`. */
function argumentTexts(holder: unknown): string[] {
  const calls: unknown = fieldValue(holder, "tool_calls");
  const functions = Array.isArray(calls) ? calls.map((call: unknown) => fieldValue(call, "function")) : [];
  const texts = [holder, fieldValue(holder, "function_call"), ...functions].map((each) =>
    fieldValue(each, "arguments"),
  );
  return texts.filter((text) => typeof text === "string");
}

function fieldValue(holder: unknown, name: string): unknown {
  return typeof holder === "object" && holder !== null ? Reflect.get(holder, name) : undefined;
}

function refuseDeeper(value: object, context: z.RefinementCtx): boolean {
  const isDeep = isDeeper(value, argumentsDepthMax);
  if (isDeep) context.addIssue({ code: "custom", message: depthRule });
  return isDeep;
}

/** Walks level by level, because a client's value may be nested deeper than the stack allows. */
function isDeeper(value: object, depthMax: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    const containers = level.filter((each) => typeof each === "object" && each !== null);
    if (containers.length > 0 && depth === depthMax) return true;
    level = containers.flatMap((each) => Object.values(each));
  }
  return false;
}
