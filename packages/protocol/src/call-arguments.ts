// The arguments of calls that an earlier reply made, as clients send them back. They may be long, and so they are read here,
// where a body is checked, which for large bodies a thread of its own does: whoever gets the request need not look into them.
// Used by the requests of each protocol.
import { z } from "zod";

import { inBounds } from "./in-bounds.ts";
import { isShapeError, numbersMax, shapeOf, valuesMax } from "./json-shape.ts";

/** Most UTF-16 units of one call's arguments: as many as of one text. */
const argumentsLengthMax = 8 * 1024 * 1024;

/** Objects inside objects: templates write them out by recursion. */
const argumentsDepthMax = 64;

const depthRule = `a call's arguments must not be nested deeper than ${argumentsDepthMax} levels`;

/** The name under which a template is given arguments that are no object: those of a call that a limit has cut. */
const textArgument = "arguments";

/** The arguments of a call: JSON as text, or its beginning where a limit has cut the reply. */
export const callArgumentsText = z
  .string("arguments must be a string that holds JSON")
  .max(argumentsLengthMax, "arguments is too long");

/**
 * The same as a request holds them, which become the text of a JSON object: templates go through them one by one. Clients send
 * the empty text for a call without any, and what a limit has cut as it came: that is told as the one argument's text.
 */
export const callArgumentsField = callArgumentsText.transform((text, context) => {
  if (text.trim() === "") return "{}";
  const value = readObject(text);
  if (value === undefined) return JSON.stringify({ [textArgument]: text });
  refuseDeeper(value, context);
  return text;
});

/** Arguments that stand in the body as an object; they become its text. */
export const callInputField = z
  .record(z.string(), z.unknown(), "input must be an object")
  .transform((input, context) => {
    if (refuseDeeper(input, context)) return "{}";
    return JSON.stringify(input);
  });

/**
 * Messages or items, whose calls' arguments are counted before they are read: each has room for as much as a whole body.
 */
export function boundedArguments<Messages extends z.ZodType>(messages: Messages) {
  const rule = `the arguments of all calls together must have at most ${valuesMax} values, and ${numbersMax} numbers in arrays`;
  return inBounds(messages, (value) => !Array.isArray(value) || areInBounds(value), rule);
}

function areInBounds(messages: readonly unknown[]): boolean {
  const encoder = new TextEncoder();
  let [values, numbers] = [0, 0];
  for (const text of messages.flatMap(argumentTexts)) {
    const shape = shapeOf(encoder.encode(text));
    if (isShapeError(shape)) return false;
    values += shape.values;
    numbers += shape.numbers;
    if (values > valuesMax || numbers > numbersMax) return false;
  }
  return true;
}

/** In an item that is a call, or in a message's `tool_calls` or `function_call`. */
function argumentTexts(holder: unknown): string[] {
  const calls: unknown = fieldOf(holder, "tool_calls");
  const functions = Array.isArray(calls) ? calls.map((call: unknown) => fieldOf(call, "function")) : [];
  const texts = [holder, fieldOf(holder, "function_call"), ...functions].map((each) =>
    fieldOf(each, "arguments"),
  );
  return texts.filter((text) => typeof text === "string");
}

function fieldOf(holder: unknown, name: string): unknown {
  return typeof holder === "object" && holder !== null ? Reflect.get(holder, name) : undefined;
}

function readObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function refuseDeeper(value: object, context: z.RefinementCtx): boolean {
  const isDeep = isDeeper(value, argumentsDepthMax);
  if (isDeep) context.addIssue({ code: "custom", message: depthRule });
  return isDeep;
}

/** Level by level: a stranger's value may be deeper than the stack. */
function isDeeper(value: object, depthMax: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    const containers = level.filter((each) => typeof each === "object" && each !== null);
    if (containers.length > 0 && depth === depthMax) return true;
    level = containers.flatMap((each) => Object.values(each));
  }
  return false;
}
