// The arguments of a call that an earlier reply made, as a client sends them back. Used by the mappers of each protocol.
import { WireError } from "../wire-error.ts";

/** Objects inside objects: templates write them out by recursion. */
const argumentsDepthMax = 64;

/**
 * Templates go through the arguments one by one. Clients send the empty text for a call without any.
 * Throws `invalid_request` for what is no JSON object.
 */
export function toCallArguments(text: string, param: string): string {
  if (text.trim() === "") return "{}";
  if (!isObject(text) || depthOf(text) > argumentsDepthMax) {
    const rule = `arguments must be a JSON object as text, nested at most ${argumentsDepthMax} deep`;
    throw new WireError("invalid_request", rule, { param });
  }
  return text;
}

function isObject(json: string): boolean {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** Brackets in strings count, too: the depth is never less than the value's. */
function depthOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of json) {
    if (character === "{" || character === "[") deepest = Math.max(deepest, ++depth);
    else if (character === "}" || character === "]") depth -= 1;
  }
  return deepest;
}
