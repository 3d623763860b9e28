import { expect, test } from "vitest";

import { ErrorBody, errorBody, isFinalError, isWireErrorCode, wireErrors } from "./errors.ts";
import type { WireErrorCode } from "./errors.ts";

const codes = Object.keys(wireErrors).filter(isWireErrorCode);

test("every code with status 400 has the type that clients read as the caller's mistake", () => {
  const types = codes.filter((code) => wireErrors[code].status === 400).map((code) => wireErrors[code].type);
  expect(types.length).toBeGreaterThan(0);
  expect(new Set(types)).toEqual(new Set(["invalid_request_error"]));
});

test("no code has a status that existing clients would retry without hope", () => {
  const retried = codes.filter(
    (code) =>
      !isFinalError(code) &&
      ([408, 409, 429].includes(wireErrors[code].status) || wireErrors[code].status >= 500),
  );
  expect(retried.toSorted()).toEqual([
    "engine_crashed",
    "engine_failed",
    "hub_unreachable",
    "internal",
    "model_loading",
    "out_of_memory",
    "overloaded",
    "rate_limited",
    "shutting_down",
    "worker_lost",
    "worker_refused",
    "worker_unreachable",
  ]);
});

test.each(codes)("the body of %s has the four fields and passes its own schema", (code: WireErrorCode) => {
  const body = errorBody(code, "a sentence");
  expect(body).toEqual({ error: { message: "a sentence", type: wireErrors[code].type, param: null, code } });
  expect(ErrorBody.parse(body)).toEqual(body);
});

test("an error body carries the field and the numbers of a prompt that is too long", () => {
  const body = errorBody("context_length_exceeded", "too long", {
    param: "messages",
    n_prompt_tokens: 0,
    n_ctx: 2048,
  });
  expect(body.error).toMatchObject({ param: "messages", n_prompt_tokens: 0, n_ctx: 2048 });
  expect(ErrorBody.parse(body)).toEqual(body);
});

test("a name that every object inherits is no error code", () => {
  expect(isWireErrorCode("toString")).toBe(false);
  expect(isWireErrorCode(undefined)).toBe(false);
});
