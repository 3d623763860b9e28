// The arguments of calls: as a client sends back those of an earlier reply, and as a reply has written them. Used by the
// mappers of each protocol.
import { WireError } from "../wire-error.ts";

/** Objects inside objects: templates write them out by recursion. */
const argumentsDepthMax = 64;

/**
 * The text of a JSON object, as the engine takes it: templates go through the arguments one by one. Clients send the empty
 * text for a call without any. Throws `invalid_request` for what is no JSON object.
 */
export function toCallArguments(text: string, param: string): string {
  if (text.trim() === "") return "{}";
  const value = readCallArguments(text);
  if (value === undefined || isDeeper(value, argumentsDepthMax))
    throw refused("a JSON object as text", param);
  return text;
}

/** The same of an object. */
export function writeCallArguments(value: Record<string, unknown>, param: string): string {
  if (isDeeper(value, argumentsDepthMax)) throw refused("an object", param);
  return JSON.stringify(value);
}

/** The object that a text holds; undefined when it is none, such as that of a call that a limit has cut. */
export function readCallArguments(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function refused(form: string, param: string): WireError {
  const rule = `a call's arguments must be ${form}, nested at most ${argumentsDepthMax} deep`;
  return new WireError("invalid_request", rule, { param });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
