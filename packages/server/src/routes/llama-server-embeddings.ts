// llama-server's embeddings: POST /embedding and POST /embeddings, whose response is a list.
import { LlamaServerEmbeddingRequest, LlamaServerEmbeddings, LlamaServerError } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import { sendPieces, toEmbeddingList } from "../http/json-pieces.ts";
import { modelErrors } from "../openapi/operation.ts";
import { leaseModel, withoutAdapter, type InferenceOptions } from "../protocols/inference.ts";
import { llamaServerConventions } from "../protocols/llama-server/conventions.ts";
import { tokensOf } from "../protocols/llama-server/engine-request.ts";
import { addRoute, type Route } from "./add-route.ts";
import { embed } from "./embeddings.ts";

const embedding = {
  ...llamaServerConventions,
  path: "POST /embedding",
  right: "inference",
  isTracked: true,
  body: LlamaServerEmbeddingRequest,
  summary: "Compute embedding vectors of texts in llama-server's form",
  responses: { 200: LlamaServerEmbeddings },
  errors: [...modelErrors, "cancelled", "context_length_exceeded", "embeddings_not_supported"],
  errorBody: LlamaServerError,
  example: { content: ["The sky is blue.", "What colour is the sky?"] },
} satisfies Route;

export async function llamaServerEmbeddingRoutes(
  app: FastifyInstance,
  options: Pick<InferenceOptions, "registry" | "variant">,
): Promise<void> {
  for (const path of ["POST /embedding", "POST /embeddings"] as const)
    addRoute(app, { ...embedding, path }, async (request, reply) => {
      const { model, content, input, embd_normalize: normalize = 2 } = request.body;
      const lease = withoutAdapter(await leaseModel(request, options, { model }));
      const inputs: (string | Int32Array)[] = [];
      for (const text of content ?? input ?? []) inputs.push(await tokensOf(text, lease.model.tokenizer));
      const { embeddings } = await embed(request, options, { lease, inputs, normalize: normalize === 2 });
      return sendPieces(reply, toEmbeddingList(embeddings));
    });
}
