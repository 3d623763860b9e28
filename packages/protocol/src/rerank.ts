// POST /v1/rerank: the request and the response, in the shapes of Jina's and Cohere's clients, and of Text Embeddings Inference.
import { z } from "zod";

import { embeddingInputsMax, EmbeddingsUsage } from "./embeddings.ts";
import { textField, textLengthMax } from "./fields/content.ts";
import { flag, integerField, optionalField, refuseField, responseObject } from "./fields/field.ts";
import { ignoredField } from "./fields/ignored-fields.ts";
import { bodyRule, servedModelField } from "./fields/request-fields.ts";
import { boundedArray } from "./fields/size-precheck.ts";

function documentsField(name: string, description: string) {
  const rule = `${name} must be an array of 1 to ${embeddingInputsMax} texts, or of objects with a text`;
  const text = z.string(rule).max(textLengthMax, rule);
  const document = z.union([text, z.looseObject({ text }).transform((given) => given.text)], rule);
  return optionalField(boundedArray(document, rule, { min: 1, max: embeddingInputsMax }), description);
}

/** The body of `POST /v1/rerank`. `null` means absent, and unknown fields are ignored. */
export const RerankRequest = z
  .looseObject(
    {
      model: servedModelField,
      query: textField("query").describe("What the documents should fit."),
      documents: documentsField("documents", "The texts to order, each a string or an object with a text."),
      texts: documentsField(
        "texts",
        "The same; the response is then a list, as in Text Embeddings Inference.",
      ),
      top_n: optionalField(
        integerField("top_n", { min: 1 }),
        "How many of the best documents to return; all by default.",
      ),
      return_documents: flag("return_documents", "Adds each document's text to its result.", false),
      return_text: flag("return_text", "The same, for texts.", false),
      truncate: ignoredField("a document that is too long is an error", [false]),
      raw_scores: ignoredField("scores are as the model computes them", [true]),
      max_tokens_per_doc: ignoredField("a document that is too long is an error"),
      max_chunks_per_doc: ignoredField("a document that is too long is an error"),
    },
    bodyRule,
  )
  .superRefine(({ documents, texts }, context) => {
    if (documents === undefined && texts === undefined) refuseField(context, "documents", "give documents");
    if (documents !== undefined && texts !== undefined)
      refuseField(context, "texts", "texts and documents are two names of one field: give one of them");
  })
  .meta({ id: "RerankRequest" });
/** A checked request. */
export type RerankRequest = z.infer<typeof RerankRequest>;
/** A request as clients write it: `null` means absent. */
export type RerankBody = z.input<typeof RerankRequest>;

const index = z.int().describe("Index of the document in the request.");
const score = z
  .number()
  .describe("The higher, the better it fits. As the model computes it: a probability, or any number.");

/** The documents, best first. */
export const Reranking = responseObject("Reranking", {
  id: z.string().describe("rerank-…"),
  object: z.literal("list"),
  model: z.string(),
  results: z.array(
    z.object({
      index,
      relevance_score: score,
      document: z.object({ text: z.string() }).optional(),
    }),
  ),
  usage: EmbeddingsUsage,
});
export type Reranking = z.infer<typeof Reranking>;

/** The response to a request with `texts`: only the list. */
export const RerankScores = z
  .array(z.object({ index, score, text: z.string().optional() }))
  .meta({ id: "RerankScores" });
export type RerankScores = z.infer<typeof RerankScores>;
