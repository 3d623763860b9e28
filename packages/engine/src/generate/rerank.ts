// Reranking: scores how well documents fit a query. A reranker reads each pair as one text, whose vector has the score as its
// only number.
import { z } from "zod";
import { computeTexts, textsMax, type EmbeddingSource } from "./embeddings.ts";
import { EngineError } from "../base/errors.ts";
import { invalidOption } from "../base/issue-message.ts";
import type { NativeModelInfo } from "../native/addon.ts";
import type { Tokenizer } from "../prompt/tokenizer.ts";

const RerankRequest = z.object({
  query: z.string(),
  documents: z.array(z.string()).min(1).max(textsMax),
});

export interface RerankOptions {
  signal?: AbortSignal | undefined;
}

export interface RerankResult {
  /**
   * One score per document, in the same order; higher is better. Scores are as the model computes them: probabilities for some
   * models, any number for others.
   */
  scores: number[];
  /** Tokens of all pairs. */
  usage: { promptTokens: number };
  /** Milliseconds in the waiting queue, and from then until the last score was computed. */
  timings: { queueMs: number; computeMs: number };
}

/** The parts of a `Model` that reranking needs. */
interface RerankSource extends Pick<EmbeddingSource, "start" | "toError"> {
  info: NativeModelInfo;
  tokenizer: Tokenizer;
}

/** Throws `invalid_request` or `reranking_not_supported`. */
export function checkRerank(
  query: string,
  documents: readonly string[],
  { isReranker }: NativeModelInfo,
): { query: string; documents: string[] } {
  const result = RerankRequest.safeParse({ query, documents });
  if (!result.success) throw invalidOption(result.error, result.error.issues[0]);
  if (isReranker) return result.data;
  const message = "This model cannot rerank: its file has no classifier of pairs. Choose a reranker.";
  throw new EngineError("reranking_not_supported", message);
}

/** Throws `embeddings_not_supported` for a reranker, whose vectors are scores. */
export function rejectReranker({ isReranker }: NativeModelInfo): void {
  if (!isReranker) return;
  const message =
    "This model cannot compute embeddings: it is a reranker, which scores pairs of texts. Choose an embedding model.";
  throw new EngineError("embeddings_not_supported", message);
}

/** Rejects with the signal's reason as soon as it is aborted. */
export async function rerank(
  { query, documents }: { query: string; documents: readonly string[] },
  source: RerankSource,
  signal: AbortSignal | undefined,
): Promise<RerankResult> {
  const tokenizePair = await pairs(query, source);
  const texts: Int32Array[] = [];
  for (const document of documents) {
    signal?.throwIfAborted();
    // One at a time, so that other requests can use the worker threads too.
    texts.push(await tokenizePair(document));
  }
  signal?.throwIfAborted();
  const { vectors, promptTokens, queueMs, computeMs } = await computeTexts(texts, source, signal);
  return { scores: Array.from(vectors), usage: { promptTokens }, timings: { queueMs, computeMs } };
}

/** Formats a pair of query and document: with the file's template, or as two texts with their end tokens. */
async function pairs(
  query: string,
  { info, tokenizer }: Pick<RerankSource, "info" | "tokenizer">,
): Promise<(document: string) => Promise<Int32Array>> {
  const { rerankTemplate: template, tokens, addsBos, addsEos, addsSep } = info;
  if (template !== "")
    return async (document) => {
      const parts: Readonly<Record<string, string>> = { "{query}": query, "{document}": document };
      const text = template.replaceAll(/\{(?:query|document)\}/g, (name) => parts[name] ?? name);
      return tokenizer.encode(text, { addSpecial: false });
    };
  const asText = { addSpecial: false, parseSpecial: false };
  const end = addsEos ? [tokens.eos >= 0 ? tokens.eos : tokens.sep] : [];
  const first = [
    ...(addsBos ? [tokens.bos] : []),
    ...(await tokenizer.encode(query, asText)),
    ...end,
    ...(addsSep ? [tokens.sep] : []),
  ];
  return async (document) =>
    Int32Array.from([...first, ...(await tokenizer.encode(document, asText)), ...end]);
}
