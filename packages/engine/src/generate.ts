// generate() and streamGenerate(): the library interface for programs that want a text and nothing else.
import { EngineError } from "./errors.ts";
import type { Generation } from "./generation.ts";
import type { GenerationRequest } from "./generation-request.ts";
import type { Model } from "./model.ts";
import type { Tokenizer } from "./tokenizer.ts";

export type GenerateParameters = Omit<Extract<GenerationRequest, { prompt: unknown }>, "messages"> & {
  signal?: AbortSignal | undefined;
};

/**
 * The generated text. `verbose` prints the prompt, the pieces as they come, and the speeds.
 * Throws `invalid_request`, `context_length_exceeded`, `overloaded`, `engine_failed`, or the signal's reason.
 */
export async function generate(
  model: Model,
  tokenizer: Tokenizer,
  { verbose = false, ...parameters }: GenerateParameters & { verbose?: boolean },
): Promise<string> {
  const generation = begin(model, tokenizer, parameters);
  if (verbose) await printWhileRunning(generation, await promptText(tokenizer, parameters.prompt));
  return (await generation).text;
}

/** The pieces of the text as they come. Leaving the loop ends the generation. */
export async function* streamGenerate(
  model: Model,
  tokenizer: Tokenizer,
  parameters: GenerateParameters,
): AsyncGenerator<string, void, undefined> {
  for await (const chunk of begin(model, tokenizer, parameters)) yield chunk.text;
}

function begin(model: Model, tokenizer: Tokenizer, { signal, ...request }: GenerateParameters): Generation {
  if (tokenizer !== model.tokenizer) {
    throw new EngineError(
      "invalid_request",
      "The tokenizer belongs to another model; pass the one from the same load().",
    );
  }
  return model.generate(request, { signal });
}

async function promptText(tokenizer: Tokenizer, prompt: GenerateParameters["prompt"]): Promise<string> {
  return typeof prompt === "string" ? prompt : await tokenizer.decode(prompt, { specials: true });
}

/** On stdout: the prompt, the pieces as they come, and how fast both were computed. */
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
