// Paths of all APIs: the other paths of routes, which clients of other servers use or which llama-server has without /v1; and the form of
// errors for paths that no route has, which is that of the API which the path, or else the client, belongs to.
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import type { ErrorRequest, ErrorShape } from "../http/to-wire-error.ts";
import { llamaServerConventions } from "./llama-server/conventions.ts";
import { toLmStudioError } from "./lm-studio/conventions.ts";
import { anthropicConventions } from "./anthropic/create-message.ts";
import { ollamaConventions } from "./ollama/conventions.ts";

/** The APIs that only some servers have. */
interface OptionalApis {
  llamaServerApi: boolean;
  lmStudioApi: boolean;
}

type Aliases = Readonly<Record<string, readonly string[]>>;

/** A route that a server does not have has no other paths either. */
const always: Aliases = {
  "GET /readyz": ["/health"],
  "POST /v1/rerank": ["/v1/reranking", "/rerank", "/reranking", "/v2/rerank"],
  "POST /completion": ["/completions"],
  "POST /embedding": ["/embeddings"],
};
const ofLlamaServer: Aliases = {
  "POST /v1/chat/completions": ["/chat/completions"],
  "POST /v1/chat/completions/input_tokens": ["/chat/completions/input_tokens"],
  "POST /v1/responses": ["/responses"],
  "POST /v1/responses/input_tokens": ["/responses/input_tokens"],
  "POST /v1/audio/transcriptions": ["/audio/transcriptions"],
};
const ofLmStudio: Aliases = {
  "POST /v1/embeddings": ["/api/v0/embeddings"],
};

/** Adds each route that is registered after it under its other paths too. */
export const aliases = fp(
  async (app: FastifyInstance, { llamaServerApi, lmStudioApi }: OptionalApis) => {
    const paths: Aliases = {
      ...always,
      ...(llamaServerApi ? ofLlamaServer : {}),
      ...(lmStudioApi ? ofLmStudio : {}),
    };
    app.addHook("onRoute", function (this: FastifyInstance, route) {
      const others = paths[`${[route.method].flat().join()} ${route.url}`] ?? [];
      for (const url of others) this.route({ ...route, url });
    });
  },
  { name: "aliases" },
);

/** Undefined: `ErrorBody` as it is. Clients of Ollama ask for its paths even where its API is not enabled. */
export function shapeOfUnknown(
  { url, headers }: { url: string; headers: ErrorRequest["headers"] },
  { llamaServerApi, lmStudioApi }: OptionalApis,
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
