import { ApiError, ConnectionError, StreamError, TimeoutError } from "@ingle/client";
import { afterEach, expect, it } from "vitest";

import { de } from "./de.ts";
import { en } from "./en.ts";
import { errorWords, wordsOf } from "./error-words.ts";
import { strings } from "./strings.ts";

afterEach(() => {
  strings.value = en;
});

const details = { type: null, param: null, requestId: null, retryAfterMs: undefined };
const api = (code: string | null): ApiError =>
  new ApiError("port must be a number", {
    ...details,
    status: 400,
    code,
    promptTokens: undefined,
    contextLength: undefined,
  });

it("an error is told in the page's language, with the server's sentence as the detail", () => {
  expect(wordsOf(api("invalid_request"))).toEqual({
    text: "The server refused this.",
    detail: "port must be a number",
  });
  strings.value = de;
  expect(wordsOf(api("invalid_request"))).toEqual({
    text: "Der Server hat das abgelehnt.",
    detail: "port must be a number",
  });
});

it.each<[string, unknown, string]>([
  ["a broken stream", new StreamError("no end", "stream_incomplete", null), en.errors.stream_incomplete],
  ["no server", new ConnectionError("nobody there"), en.errors.unreachable],
  ["silence", new TimeoutError(5), en.errors.timeout],
])("%s has a sentence, too", (_what, error, text) => {
  expect(wordsOf(error).text).toBe(text);
});

it("what has no sentence is told in its own words", () => {
  expect(wordsOf(api(null))).toEqual({ text: "port must be a number", detail: null });
  expect(wordsOf(api("of_a_later_version"))).toEqual({ text: "port must be a number", detail: null });
  expect(wordsOf(new Error("a bug"))).toEqual({ text: "a bug", detail: null });
  expect(wordsOf("a text")).toEqual({ text: "a text", detail: null });
  expect(errorWords({ code: "toString", message: "inherited" })).toEqual({ text: "inherited", detail: null });
});
