// generate() and streamGenerate(): the simplest interface, for programs that only want the text.
import { EngineError, invalidRequest } from "./base/errors.ts";
import type { Generation } from "./generate/generation.ts";
import type { GenerationRequest } from "./generate/generation-request.ts";
import { imageNotSupported } from "./prompt/image-prompt.ts";
import type { ImageSource } from "./media/images/image-bytes.ts";
import { readImages } from "./media/images/read-images.ts";
import type { Model } from "./model.ts";
import type { Processor } from "./prompt/processor.ts";
import type { Tokenizer } from "./prompt/tokenizer.ts";

export type GenerateParameters = Omit<
  Extract<GenerationRequest, { prompt: unknown }>,
  "messages" | "images"
> & {
  /**
   * One image or several, in the order of the markers in the prompt: each a path, a `file:` or `data:` URL, the bytes of a file or a
   * Blob. They need a processor in place of the tokenizer. Default: none.
   */
  images?: ImageSource | readonly ImageSource[] | undefined;
  signal?: AbortSignal | undefined;
};

/** From the same `load()` as the model: the tokenizer for text only, the processor for images too. */
export type PromptReader = Tokenizer | Processor | null | undefined;

/**
 * Generates a text. `verbose` prints the prompt, the reply while it is generated, and the speed.
 * Throws `invalid_request`, `context_length_exceeded`, `overloaded`, `engine_failed`, for images `image_not_supported`,
 * `image_invalid` and `image_too_large`, or the signal's reason.
 */
export async function generate(
  model: Model,
  reader: PromptReader,
  { verbose = false, ...parameters }: GenerateParameters & { verbose?: boolean },
): Promise<string> {
  const { signal } = parameters;
  const generation = model.generate(await requestFor(model, reader, parameters), { signal });
  if (verbose) await printWhileRunning(generation, await promptText(model.tokenizer, parameters.prompt));
  return (await generation).text;
}

/** Yields the text in pieces while it is generated. Breaking out of the loop cancels the generation. Throws what `generate` throws. */
export async function* streamGenerate(
  model: Model,
  reader: PromptReader,
  parameters: GenerateParameters,
): AsyncGenerator<string, void, undefined> {
  const { signal } = parameters;
  const generation = model.generate(await requestFor(model, reader, parameters), { signal });
  for await (const chunk of generation) yield chunk.text;
}

/** The model's request: images are decoded to pixels. */
async function requestFor(
  model: Model,
  reader: PromptReader,
  { signal, images, ...request }: GenerateParameters,
): Promise<GenerationRequest> {
  if (reader === null || reader === undefined) throw imageNotSupported("processor");
  if (reader === model.processor) return { ...request, images: await readImages(images ?? [], { signal }) };
  if (reader !== model.tokenizer) {
    throw new EngineError(
      "invalid_request",
      "The tokenizer or processor belongs to another model; pass the one from the same load().",
    );
  }
  if (images === undefined) return request;
  if (model.processor === null) throw imageNotSupported("images");
  throw invalidRequest("images", "the processor reads images; pass it instead of the tokenizer.");
}

async function promptText(tokenizer: Tokenizer, prompt: GenerateParameters["prompt"]): Promise<string> {
  return typeof prompt === "string" ? prompt : await tokenizer.decode(prompt, { specials: true });
}

/** Prints to stdout: the prompt, the pieces as they arrive, and the speed of both. */
async function printWhileRunning(generation: Generation, prompt: string): Promise<void> {
  const { stdout } = process;
  stdout.write(`${prompt}\n${"=".repeat(10)}\n`);
  for await (const chunk of generation) stdout.write(chunk.text);
  const { usage, timings } = await generation;
  const { promptTokens, cachedTokens, completionTokens } = usage;
  const reused = cachedTokens > 0 ? ` (${cachedTokens} of them reused)` : "";
  const perSecond = (tokens: number, ms: number): string =>
    ms > 0 ? (tokens / (ms / 1000)).toFixed(1) : "–";
  stdout.write(
    `\n${"=".repeat(10)}\n` +
      `Prompt: ${promptTokens} tokens${reused}, ${perSecond(promptTokens - cachedTokens, timings.promptMs)} tokens/s\n` +
      `Generation: ${completionTokens} tokens, ${perSecond(completionTokens, timings.predictedMs)} tokens/s\n`,
  );
}
