import { expect, test } from "vitest";

import { AnthropicErrorBody, anthropicErrorBody } from "./message.ts";
import { anthropicErrorType, ErrorBody, errorBody, isWireErrorCode, wireErrors } from "../errors.ts";

const codes = Object.keys(wireErrors).filter(isWireErrorCode);

test.each(codes)("the body of %s is one in both shapes, and differs in its type at most", (code) => {
  const plain = errorBody(code, "a sentence", { param: "messages", n_ctx: 5 });
  const body = anthropicErrorBody(plain, "id");
  expect(AnthropicErrorBody.parse(body)).toEqual(body);
  expect(ErrorBody.parse(body).error).toEqual({ ...plain.error, type: anthropicErrorType(code) });
});

test("a status has the type that its clients know for it, where they know one", () => {
  const known: Readonly<Record<number, string>> = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    500: "api_error",
  };
  const differing = codes.filter((code) => {
    const type = known[wireErrors[code].status];
    return type !== undefined && type !== anthropicErrorType(code);
  });
  expect(differing).toEqual([]);
});
