// POST /v1/embeddings: embedding vectors of one or several texts.
import { Embeddings, EmbeddingsRequest } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import { leaseModel, refuseAdapter, type InferenceOptions } from "../../generation/inference.ts";
import { sendPieces, toEmbeddings } from "../../http/json-pieces.ts";
import { modelErrors } from "../../openapi/operation.ts";
import { embed } from "../../generation/embeddings.ts";
import { addRoute, type Route } from "../../http/add-route.ts";

const embeddings = {
  path: "POST /v1/embeddings",
  right: "inference",
  isTracked: true,
  body: EmbeddingsRequest,
  summary: "Compute embedding vectors of texts",
  responses: { 200: Embeddings },
  errors: [...modelErrors, "cancelled", "context_length_exceeded", "embeddings_not_supported"],
  example: { input: ["The sky is blue.", "What colour is the sky?"] },
} satisfies Route;

export function addEmbeddings(
  app: FastifyInstance,
  options: Pick<InferenceOptions, "registry" | "variant">,
): void {
  addRoute(app, embeddings, async (request, reply) => {
    const { model, input, dimensions, encoding_format: format } = request.body;
    const lease = refuseAdapter(await leaseModel(request, options, { model }));
    const result = await embed(request, options, { lease, inputs: toInputs(input), dimensions });
    return sendPieces(reply, toEmbeddings({ model: lease.id, result, format }));
  });
}

function toInputs(input: EmbeddingsRequest["input"]): readonly (string | Int32Array)[] {
  return typeof input === "string" || input instanceof Int32Array ? [input] : input;
}
