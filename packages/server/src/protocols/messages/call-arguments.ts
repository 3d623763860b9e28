// The arguments of a call that a reply has written. Used by messages/to-message.ts.

/** The object that a text holds; undefined when it is none, such as that of a call that a limit has cut. */
export function readCallArguments(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
