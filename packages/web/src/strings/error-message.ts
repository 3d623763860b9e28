// What to tell the user about an error: a sentence for its code in the user's language, with the server's own sentence as the detail.
import { ApiError, ConnectionError, StreamError, TimeoutError } from "@ingle/client";

import { strings } from "./strings.ts";

export interface ErrorMessage {
  text: string;
  /** The original message; null where it is the text itself. */
  detail: string | null;
}

/** The message of a stored error. Without a sentence for its code, the stored message is the text. */
export function storedErrorMessage({
  code,
  message,
}: {
  code: string | null;
  message: string;
}): ErrorMessage {
  const sentences: Readonly<Record<string, string>> = strings.value.errors;
  const text = code !== null && Object.hasOwn(sentences, code) ? sentences[code] : undefined;
  return text === undefined ? { text: message, detail: null } : { text, detail: message };
}

/** The message of anything that was thrown. */
export function errorMessage(error: unknown): ErrorMessage {
  return storedErrorMessage({ code: errorCode(error), message: reasonOf(error) });
}

/** The code under which the page stores an error and finds its sentence; null if it has none. */
export function errorCode(error: unknown): string | null {
  if (ApiError.is(error) || StreamError.is(error)) return error.code;
  if (ConnectionError.is(error)) return "unreachable";
  return TimeoutError.is(error) ? "timeout" : null;
}

/** The error's own message, in English. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
