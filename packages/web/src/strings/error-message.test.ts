import { ApiError, ConnectionError, StreamError, TimeoutError } from "@ingle/client";
import { afterEach, expect, it } from "vitest";

import { errorMessage, errorTexts, storedErrorMessage } from "./error-message.ts";
import { language } from "./language.ts";

afterEach(() => {
  language.value = "en";
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

it("translates an error code and keeps the server's sentence as the detail", () => {
  expect(errorMessage(api("invalid_request"))).toEqual({
    text: "The server rejected this request.",
    detail: "port must be a number",
  });
  language.value = "de";
  expect(errorMessage(api("invalid_request"))).toEqual({
    text: "Der Server hat diese Anfrage abgelehnt.",
    detail: "port must be a number",
  });
});

it.each<[string, unknown, string]>([
  ["a broken stream", new StreamError("no end", "stream_incomplete", null), errorTexts.stream_incomplete],
  ["no server", new ConnectionError("nobody there"), errorTexts.unreachable],
  ["a timeout", new TimeoutError(5), errorTexts.timeout],
])("has a sentence for %s", (_what, error, text) => {
  expect(errorMessage(error).text).toBe(text);
});

it("shows the original message of an error without a known code", () => {
  expect(errorMessage(api(null))).toEqual({ text: "port must be a number", detail: null });
  expect(errorMessage(api("of_a_later_version"))).toEqual({ text: "port must be a number", detail: null });
  expect(errorMessage(new Error("a bug"))).toEqual({ text: "a bug", detail: null });
  expect(errorMessage("a text")).toEqual({ text: "a text", detail: null });
  expect(storedErrorMessage({ code: "toString", message: "inherited" })).toEqual({
    text: "inherited",
    detail: null,
  });
});
