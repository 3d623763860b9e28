// Errors of preparing a prompt natively, with the request's field that they are about.
import { EngineError } from "./errors.ts";
import type { CheckedGenerationRequest } from "./generation-request.ts";
import { fromNative } from "./native.ts";

/** Awaits a native promise. An invalid audio or grammar becomes an error about the field that it comes from. */
export async function ofParam<T>(
  { responseFormat }: CheckedGenerationRequest,
  pending: Promise<T>,
): Promise<T> {
  try {
    return await fromNative(pending);
  } catch (error) {
    if (EngineError.is(error) && error.code === "audio_invalid")
      throw new EngineError(error.code, error.message, { cause: error, details: { param: "messages" } });
    if (!EngineError.is(error) || error.code !== "invalid_request") throw error;
    const param = {
      text: "tools",
      grammar: "responseFormat.grammar",
      json: "responseFormat",
      json_schema: "responseFormat",
      regex: "responseFormat.regex",
      choice: "responseFormat.choice",
    };
    throw new EngineError(error.code, error.message, {
      cause: error,
      details: { param: param[responseFormat.type] },
    });
  }
}
