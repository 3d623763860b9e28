// The conventions of all routes of llama-server's API: the form of errors.
import { wireErrors, isWireErrorCode, type ErrorBody, type LlamaServerError } from "@ingle/protocol";
import { dataEvent } from "../../http/event-stream.ts";
import { optionFields } from "../../generation/sampling-fields.ts";
import type { WireConventions } from "../../generation/generation-route.ts";

export const llamaServerConventions = {
  fieldNames: {
    ...optionFields,
    idSlot: "id_slot",
    file: "filename",
    maxTokens: "n_predict",
    responseFormat: "json_schema",
    "responseFormat.grammar": "grammar",
  },
  errorShape: toLlamaServerError,
} satisfies WireConventions;

/** `code` is the HTTP status, and prompts that are too long have their own type. */
function toLlamaServerError({ error }: ErrorBody): LlamaServerError {
  const { code, type, progress: _progress, ...rest } = error;
  return {
    error: {
      ...rest,
      code: isWireErrorCode(code) ? wireErrors[code].status : wireErrors.internal.status,
      type: code === "context_length_exceeded" ? "exceed_context_size_error" : type,
    },
  };
}

export function llamaServerErrorEvent(error: ErrorBody): string {
  return dataEvent(JSON.stringify(toLlamaServerError(error)));
}
