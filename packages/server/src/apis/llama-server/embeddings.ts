// llama-server's embeddings: POST /embedding, whose response is a list.
import { LlamaServerEmbeddingRequest, LlamaServerEmbeddings, LlamaServerError } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import { sendPieces, toEmbeddingList } from "../../http/json-pieces.ts";
import { modelErrors } from "../../openapi/operation.ts";
import { leaseModel, refuseAdapter, type InferenceOptions } from "../../generation/inference.ts";
import { llamaServerConventions } from "./conventions.ts";
import { encodePrompt } from "./engine-request.ts";
import { addRoute, type Route } from "../../http/add-route.ts";
import { embed } from "../../generation/embeddings.ts";

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

export function addEmbeddings(
  app: FastifyInstance,
  options: Pick<InferenceOptions, "registry" | "variant">,
): void {
  addRoute(app, embedding, async (request, reply) => {
    const { model, content, input, embd_normalize: normalize = 2 } = request.body;
    const lease = refuseAdapter(await leaseModel(request, options, { model }));
    const inputs: (string | Int32Array)[] = [];
    for (const text of content ?? input ?? []) inputs.push(await encodePrompt(text, lease.model.tokenizer));
    const { embeddings } = await embed(request, options, { lease, inputs, normalize: normalize === 2 });
    return sendPieces(reply, toEmbeddingList(embeddings));
  });
}
