// The capabilities of a model, read from its file's header and cached.
import { readGgufKeys, type GgufMetadata } from "@ingle/gguf";
import { cachedByFile } from "./cached-by-file.ts";
import { toModelFacts, nonEmptyString } from "./model-facts.ts";
import { recommendedSampling, type RecommendedSampling } from "./recommended-sampling.ts";

/** What a chat template has. */
export interface TemplateTraits {
  /** Whether it includes tools. */
  knowsTools: boolean;
  /** Whether it can switch thinking on and off, or starts replies with it. */
  knowsThinking: boolean;
}

export interface ModelTraits extends TemplateTraits {
  /** Such as `lfm2` or `llama`. */
  architecture: string;
  /** Whether it computes embeddings instead of generating text. */
  isEmbedder: boolean;
  /** Tokens that it was trained for; absent if the file does not tell. A load may choose fewer. */
  contextLengthTrain?: number | undefined;
  /** What its makers recommend; empty if the file has nothing. */
  sampling: RecommendedSampling;
}

/** Undefined for a file that is missing, damaged or not a model; loading it reports the reason. */
export const modelTraits = cachedByFile(async (file) =>
  toModelTraits(file, await readGgufKeys(file, isNeeded)),
);

/** Everything but the vocabulary, which is long. */
function isNeeded(key: string): boolean {
  return key === templateKey || !key.startsWith("tokenizer.");
}

const templateKey = "tokenizer.chat_template";

/** Throws `model_invalid` for metadata without a valid architecture. */
export function toModelTraits(what: string, metadata: GgufMetadata): ModelTraits {
  const { architecture, contextLength, isEmbedder, name = "" } = toModelFacts(what, metadata);
  const template = isEmbedder ? "" : (nonEmptyString(metadata, templateKey) ?? "");
  const { knowsTools, knowsThinking } = templateTraits(template);
  return {
    architecture,
    isEmbedder,
    knowsTools,
    knowsThinking: knowsThinking || (template !== "" && isNamedForThinking.test(name)),
    contextLengthTrain: contextLength,
    sampling: recommendedSampling(metadata),
  };
}

export function templateTraits(template: string): TemplateTraits {
  return { knowsTools: /\btools\b/.test(templateCode(template)), knowsThinking: switchesThinking(template) };
}

/** The code between the braces of a Jinja template. */
function templateCode(template: string): string {
  return (template.match(/\{[{%][^]*?[}%]\}/g) ?? []).join(" ");
}

/** A variable that switches thinking, or a reply that starts with it. Removing old thoughts is no sign of either. */
function switchesThinking(template: string): boolean {
  if (/\b(enable_thinking|reasoning_effort)\b|\b(if|not|and) thinking\b/.test(templateCode(template)))
    return true;
  const reply = template.slice(template.lastIndexOf("add_generation_prompt"));
  return template.includes("add_generation_prompt") && /<(\|?)think(ing)?\1>/.test(reply);
}

/** Some models always think, without a trace in their template, but with a name that says so. */
const isNamedForThinking = /\b(thinking|reasoning)\b/i;
