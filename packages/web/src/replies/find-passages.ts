// Finds the passages of documents that belong to a question: by its words, and by its meaning if there is an embedding model.
import { ApiError } from "@ingle/client";

import type { FoundPassages, TextAttachment } from "../conversations/conversation.ts";
import { rankByScores, pickPassages, type Candidate } from "../retrieval/pick-passages.ts";
import { scoreByWords } from "../retrieval/score-by-words.ts";
import { splitText, type TextRange, toPlace } from "../retrieval/split-text.ts";
import { scoreByMeaning, type Vector } from "../retrieval/vectors.ts";
import { passagesText } from "./chat-request.ts";
import { documentVectors, embedTexts } from "./document-vectors.ts";
import type { ReadingProgress } from "../conversations/live-replies.ts";
import { countText } from "./request-size.ts";

/** More than any book has; to embed them would take a processor many minutes. */
const embeddedPassagesMax = 8_192;

interface FindOptions {
  documents: readonly TextAttachment[];
  question: string;
  /** How many tokens the passages may have. */
  budget: number;
  conversationId: string;
  /** The model whose tokens count. */
  model: string;
  /** The embedding model; null: none. */
  embedder: string | null;
  onProgress: (progress: ReadingProgress) => void;
  signal: AbortSignal;
}

interface SplitDocument extends TextAttachment {
  ranges: readonly TextRange[];
  /** Their texts. */
  passages: readonly string[];
}

function splitDocument(document: TextAttachment): SplitDocument {
  const ranges = splitText(document.text);
  return { ...document, ranges, passages: ranges.map(({ start, end }) => document.text.slice(start, end)) };
}

export async function findPassages(options: FindOptions): Promise<FoundPassages> {
  const { documents, question, budget, model, signal } = options;
  const split = documents.map(splitDocument);
  const all = split.flatMap(({ ranges }, document) =>
    ranges.map((range): Candidate => ({ ...range, document })),
  );
  const passageText = ({ document, start, end }: Candidate) =>
    documents[document]?.text.slice(start, end) ?? "";
  const texts = split.flatMap(({ passages }) => passages);
  const byWords = await scoreByWords(texts, question, { signal });
  const { scores: byMeaning, ...how } = await embedAndScore(split, options);
  const ranked = rankByScores([byWords, byMeaning]).flatMap((at) => all[at] ?? []);
  const picked = await pickPassages({
    // A question without any of their words is about the whole, and a document says first what it is about.
    ranked: ranked.length > 0 ? ranked : all,
    count: (candidate) => countText(model, passageText(candidate), signal),
    budget,
  });
  const passages = picked.map((candidate) => {
    const { name = "", text = "" } = documents[candidate.document] ?? {};
    return { name, ...toPlace(text, candidate), text: passageText(candidate) };
  });
  return { passages, tokens: await countText(model, passagesText(passages), signal), ...how };
}

type Meaning = Pick<FoundPassages, "embedder" | "problem"> & { scores: readonly number[] };

/** The scores by meaning; empty without an embedding model, and if it fails. */
async function embedAndScore(documents: readonly SplitDocument[], options: FindOptions): Promise<Meaning> {
  const { question, embedder, signal } = options;
  const none = { scores: [], embedder: null };
  const count = documents.reduce((sum, { passages }) => sum + passages.length, 0);
  if (embedder === null || question.trim() === "") return none;
  if (count > embeddedPassagesMax)
    return {
      ...none,
      problem: { code: "too_many_passages", message: `There are more than ${embeddedPassagesMax} passages.` },
    };
  try {
    const [asked] = await embedTexts([question], { model: embedder, signal });
    const vectors: Vector[] = [];
    for (const document of documents)
      vectors.push(...(await readDocumentVectors(document, embedder, options)));
    return { scores: asked === undefined ? [] : scoreByMeaning(vectors, asked), embedder };
  } catch (error) {
    if (!ApiError.is(error)) throw error;
    return { ...none, problem: { code: error.code, message: error.message } };
  }
}

async function readDocumentVectors(document: SplitDocument, model: string, options: FindOptions) {
  const { conversationId, signal, onProgress } = options;
  const { name, passages } = document;
  const report = (done: number) => onProgress({ name, done, all: passages.length });
  return documentVectors({ document, conversationId, model, onProgress: report, signal });
}
