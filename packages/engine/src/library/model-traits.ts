// The capabilities of a model, read from its file's header and cached.
import { stat } from "node:fs/promises";
import { GgufError, readGgufKeys, type GgufMetadata } from "@ingle/gguf";
import { factsOf, textIn } from "./model-facts.ts";
import { recommendedSampling, type RecommendedSampling } from "./recommended-sampling.ts";
import { EngineError } from "../errors.ts";

export interface ModelTraits {
  /** Such as `lfm2` or `llama`. */
  architecture: string;
  /** Whether its chat template includes tools. */
  knowsTools: boolean;
  /** Whether its chat template can switch thinking on and off, or starts replies with it. */
  knowsThinking: boolean;
  /** Whether it computes embeddings instead of generating text. */
  isEmbedder: boolean;
  /** Tokens that it was trained for; absent if the file does not tell. A load may choose fewer. */
  contextLengthTrain?: number | undefined;
  /** What its makers recommend; empty if the file has nothing. */
  sampling: RecommendedSampling;
}

/** Cached files: far more than any user has. */
const cachedMax = 10_000;
/** By path, size and modification time. */
const cache = new Map<string, ModelTraits | undefined>();

/** Undefined for a file that is missing, damaged or not a model; loading it reports the reason. */
export async function modelTraits(file: string): Promise<ModelTraits | undefined> {
  const stats = await stat(file).catch(() => undefined);
  if (stats === undefined) return undefined;
  const key = `${stats.size} ${stats.mtimeMs} ${file}`;
  if (cache.has(key)) return cache.get(key);
  const traits = await readTraits(file);
  if (cache.size >= cachedMax) cache.clear();
  cache.set(key, traits);
  return traits;
}

async function readTraits(file: string): Promise<ModelTraits | undefined> {
  try {
    return traitsIn(file, await readGgufKeys(file, isNeeded));
  } catch (error) {
    if (error instanceof GgufError || EngineError.is(error) || isSystemError(error)) return undefined;
    throw error;
  }
}

/** Whether a file was deleted or is not readable. */
function isSystemError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}

/** Everything but the vocabulary, which is long. */
function isNeeded(key: string): boolean {
  return key === templateKey || !key.startsWith("tokenizer.");
}

const templateKey = "tokenizer.chat_template";

/** Throws `model_invalid` for metadata without a valid architecture. */
export function traitsIn(what: string, metadata: GgufMetadata): ModelTraits {
  const { architecture, contextLength, isEmbedder, name = "" } = factsOf(what, metadata);
  const template = isEmbedder ? "" : (textIn(metadata, templateKey) ?? "");
  return {
    architecture,
    isEmbedder,
    knowsTools: /\btools\b/.test(codeOf(template)),
    knowsThinking: switchesThinking(template) || (template !== "" && isNamedForThinking.test(name)),
    contextLengthTrain: contextLength,
    sampling: recommendedSampling(metadata),
  };
}

/** The code between the braces of a Jinja template. */
function codeOf(template: string): string {
  return (template.match(/\{[{%][^]*?[}%]\}/g) ?? []).join(" ");
}

/** A variable that switches thinking, or a reply that starts with it. Removing old thoughts is no sign of either. */
function switchesThinking(template: string): boolean {
  if (/\b(enable_thinking|reasoning_effort)\b|\b(if|not|and) thinking\b/.test(codeOf(template))) return true;
  const reply = template.slice(template.lastIndexOf("add_generation_prompt"));
  return template.includes("add_generation_prompt") && /<(\|?)think(ing)?\1>/.test(reply);
}

/** Some models always think, without a trace in their template, but with a name that says so. */
const isNamedForThinking = /\b(thinking|reasoning)\b/i;
