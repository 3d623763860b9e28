// What went wrong, in the language of the person: a sentence by the error's code, and the server's own English one as its detail.
import { ApiError, ConnectionError, StreamError, TimeoutError } from "@ingle/client";

import { strings } from "./strings.ts";

export interface ErrorWords {
  text: string;
  /** The words of whoever found the error; null where they are the text. */
  detail: string | null;
}

/** Of an error as it is kept. A code that has no sentence leaves the message alone. */
export function errorWords({ code, message }: { code: string | null; message: string }): ErrorWords {
  const sentences: Readonly<Record<string, string>> = strings.value.errors;
  const text = code !== null && Object.hasOwn(sentences, code) ? sentences[code] : undefined;
  return text === undefined ? { text: message, detail: null } : { text, detail: message };
}

/** Of anything that was thrown. */
export function wordsOf(error: unknown): ErrorWords {
  return errorWords({ code: codeOf(error), message: error instanceof Error ? error.message : String(error) });
}

/** The code by which the page keeps an error and says what it means; null where it has none. */
export function codeOf(error: unknown): string | null {
  if (ApiError.is(error) || StreamError.is(error)) return error.code;
  if (ConnectionError.is(error)) return "unreachable";
  return TimeoutError.is(error) ? "timeout" : null;
}
