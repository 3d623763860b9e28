// The form of errors for paths that no route has: that of the API which the path, or else the client, belongs to.
import type { ErrorRequest, ErrorShape } from "../http/to-wire-error.ts";
import { llamaServerConventions } from "./llama-server/conventions.ts";
import { toLmStudioError } from "./lm-studio/conventions.ts";
import { anthropicConventions } from "./messages/protocol.ts";
import { ollamaConventions } from "./ollama/conventions.ts";

interface Apis {
  llamaServerApi: boolean;
  lmStudioApi: boolean;
}

/** Undefined: `ErrorBody` as it is. Clients of Ollama ask for its paths even where its API is not enabled. */
export function shapeOfUnknown(
  { url, headers }: { url: string; headers: ErrorRequest["headers"] },
  { llamaServerApi, lmStudioApi }: Apis,
): ErrorShape | undefined {
  const [path = ""] = url.split("?", 1);
  if (/^\/api\/v1(?:\/|$)/.test(path)) return lmStudioApi ? toLmStudioError : undefined;
  if (/^\/api\/v0(?:\/|$)/.test(path)) return undefined;
  if (/^\/api(?:\/|$)/.test(path)) return ollamaConventions.errorShape;
  if (/^\/v1\/messages(?:\/|$)/.test(path) || headers["anthropic-version"] !== undefined)
    return anthropicConventions.errorShape;
  if (llamaServerApi && !/^\/v1(?:\/|$)/.test(path)) return llamaServerConventions.errorShape;
  return undefined;
}
