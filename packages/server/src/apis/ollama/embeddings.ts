// Ollama's embeddings: POST /api/embed for several texts, and the older POST /api/embeddings for one.
import { EngineError, type EmbeddingResult } from "@ingle/engine";
import {
  OllamaEmbeddingsReply,
  OllamaEmbeddingsRequest,
  OllamaEmbedReply,
  OllamaEmbedRequest,
  OllamaError,
} from "@ingle/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Lease } from "../../models/slot/slot-interface.ts";
import { modelErrors } from "../../openapi/operation.ts";
import { refuseAdapter, type InferenceOptions } from "../../generation/inference.ts";
import { ollamaConventions } from "./conventions.ts";
import { ignoredOptions } from "./engine-request.ts";
import { leaseOllamaModel } from "./lease.ts";
import { toDurations } from "./response.ts";
import { addRoute, type Route } from "../../http/add-route.ts";
import { embed as embedTexts } from "../../generation/embeddings.ts";

const conventions = {
  ...ollamaConventions,
  errorBody: OllamaError,
  right: "inference",
  isTracked: true,
  errors: [...modelErrors, "cancelled", "context_length_exceeded", "embeddings_not_supported"],
} as const;

const embed = {
  ...conventions,
  path: "POST /api/embed",
  body: OllamaEmbedRequest,
  summary: "Compute embedding vectors of texts in Ollama's form",
  responses: { 200: OllamaEmbedReply },
  example: { input: ["The sky is blue."] },
} satisfies Route;
const embedOne = {
  ...conventions,
  path: "POST /api/embeddings",
  body: OllamaEmbeddingsRequest,
  summary: "Compute the embedding vector of one text in Ollama's form",
  responses: { 200: OllamaEmbeddingsReply },
  example: { prompt: "The sky is blue." },
} satisfies Route;

export function addEmbeddings(
  app: FastifyInstance,
  options: Pick<InferenceOptions, "registry" | "variant">,
): void {
  addRoute(app, embed, async (request): Promise<OllamaEmbedReply> => {
    const { body, outcome } = request;
    const { input = [], truncate = true } = body;
    request.ignore(ignoredOptions(body.options));
    const lease = refuseAdapter(await leaseOllamaModel(body, request, { ...options, places: 1 }));
    const leasedAt = performance.now();
    const texts = typeof input === "string" ? [input] : input;
    const dimensions = body.dimensions === 0 ? undefined : body.dimensions;
    const wanted = { lease, texts, truncate, dimensions };
    const { embeddings, usage } = await embedOrCut(request, options, wanted);
    return {
      model: body.model ?? lease.id,
      embeddings: embeddings.map((vector) => Array.from(vector)),
      ...toDurations({ startedAt: outcome.startedAt, leasedAt }),
      prompt_eval_count: usage.promptTokens,
    };
  });
  addRoute(app, embedOne, async (request): Promise<OllamaEmbeddingsReply> => {
    const { body } = request;
    const { prompt = "" } = body;
    request.ignore(ignoredOptions(body.options));
    const lease = refuseAdapter(await leaseOllamaModel(body, request, { ...options, places: 1 }));
    const texts = prompt === "" ? [] : [prompt];
    const { embeddings } = await embedOrCut(request, options, { lease, texts, truncate: true });
    return { embedding: Array.from(embeddings[0] ?? []) };
  });
}

interface Texts {
  lease: Lease;
  texts: readonly string[];
  /** Cuts texts that are longer than the model's context. */
  truncate: boolean;
  dimensions?: number | undefined;
}

async function embedOrCut(
  request: FastifyRequest,
  options: Pick<InferenceOptions, "registry" | "variant">,
  { lease, texts, truncate, dimensions }: Texts,
): Promise<Pick<EmbeddingResult, "embeddings" | "usage">> {
  if (texts.length === 0) return { embeddings: [], usage: { promptTokens: 0 } };
  const { tokenizer } = lease.model;
  const compute = (inputs: readonly (string | Int32Array)[]): Promise<EmbeddingResult> =>
    embedTexts(request, options, { lease, inputs, dimensions });
  return await compute(texts).catch(async (error: unknown) => {
    const limit = truncate ? limitIn(error) : undefined;
    if (limit === undefined) throw error;
    const tokens = await Promise.all(texts.map(async (text) => await tokenizer.encode(text)));
    return await compute(tokens.map((each) => each.subarray(0, limit)));
  });
}

/** The maximum number of tokens of a text, if the error is that one is longer. */
function limitIn(error: unknown): number | undefined {
  if (!EngineError.is(error) || error.code !== "context_length_exceeded") return undefined;
  const { contextLength } = error.details;
  return typeof contextLength === "number" ? contextLength : undefined;
}
