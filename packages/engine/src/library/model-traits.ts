// What a model is able to do, as its file's header says: read before its weights are, and once for each file. Used by those who
// show models.
import { stat } from "node:fs/promises";
import { GgufError, readGgufKeys, type GgufMetadata } from "@ingle/gguf";
import { factsOf, textIn } from "./model-facts.ts";
import { EngineError } from "../errors.ts";

export interface ModelTraits {
  /** Such as `lfm2` or `llama`. */
  architecture: string;
  /** Its chat template writes tools out. */
  knowsTools: boolean;
  /** Its chat template can be told to let it think or not, or lets it begin with that. */
  knowsThinking: boolean;
  /** Made for vectors of texts, and not for answers. */
  isEmbedder: boolean;
}

/** Files whose traits are remembered: far more than anybody has. */
const rememberedMax = 10_000;
/** By path, size and time of the last change. */
const remembered = new Map<string, ModelTraits | undefined>();

/** Undefined for a file that is gone, damaged or no model: whoever loads it is told why. */
export async function modelTraits(file: string): Promise<ModelTraits | undefined> {
  const stats = await stat(file).catch(() => undefined);
  if (stats === undefined) return undefined;
  const name = `${stats.size} ${stats.mtimeMs} ${file}`;
  if (remembered.has(name)) return remembered.get(name);
  const traits = await readTraits(file);
  if (remembered.size >= rememberedMax) remembered.clear();
  remembered.set(name, traits);
  return traits;
}

async function readTraits(file: string): Promise<ModelTraits | undefined> {
  try {
    return traitsIn(file, await readGgufKeys(file, isOfUse));
  } catch (error) {
    if (error instanceof GgufError || EngineError.is(error) || isOfSystem(error)) return undefined;
    throw error;
  }
}

/** A file that was taken away, or that is not ours to read. */
function isOfSystem(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}

/** All but the vocabulary, which is long. */
function isOfUse(key: string): boolean {
  return key === templateKey || !key.startsWith("tokenizer.");
}

const templateKey = "tokenizer.chat_template";

/** Throws `model_invalid` for metadata of something that is no model. */
export function traitsIn(what: string, metadata: GgufMetadata): ModelTraits {
  const { architecture, isEmbedder, name = "" } = factsOf(what, metadata);
  const template = isEmbedder ? "" : (textIn(metadata, templateKey) ?? "");
  return {
    architecture,
    isEmbedder,
    knowsTools: /\btools\b/.test(codeOf(template)),
    knowsThinking: switchesThinking(template) || (template !== "" && isNamedForThinking.test(name)),
  };
}

/** What stands between the braces of a Jinja template. */
function codeOf(template: string): string {
  return (template.match(/\{[{%][^]*?[}%]\}/g) ?? []).join(" ");
}

/** A variable that turns it on and off, or a reply that begins with it. That old thoughts are left out says nothing. */
function switchesThinking(template: string): boolean {
  if (/\b(enable_thinking|reasoning_effort)\b|\b(if|not|and) thinking\b/.test(codeOf(template))) return true;
  const reply = template.slice(template.lastIndexOf("add_generation_prompt"));
  return template.includes("add_generation_prompt") && /<(\|?)think(ing)?\1>/.test(reply);
}

/** Some models think whatever their template says, and are called so. */
const isNamedForThinking = /\b(thinking|reasoning)\b/i;
