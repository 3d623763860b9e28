// Running generations, one a choice, as the events of a streamed answer. Used by routes/completions.ts.
import type { Generation, GenerationChunk, GenerationResult } from "@ingle/engine";
import type { CompletionChunk } from "@ingle/protocol";
import { toTimings, toUsage, type ResponseFields } from "../usage.ts";
import { mergeStreams } from "../choice-chunks.ts";
import { speedometer, type Speed } from "../speedometer.ts";
import { doneEvent, eventsWithHead } from "../../http/event-stream.ts";
import type { StreamOptions } from "../stream-options.ts";
import { toFinishReason, type CompletionOptions } from "./response.ts";
import { logprobsWriter } from "./logprobs.ts";

/**
 * The first event is not written before the first piece is there: until then an error is an HTTP error.
 * Throws what a generation throws.
 */
export async function* toChunks(
  head: ResponseFields,
  generations: readonly Generation[],
  options: CompletionOptions & StreamOptions,
): AsyncGenerator<string, void, undefined> {
  const write = chunkWriter(head);
  const now = options.now ?? (() => performance.now());
  const choices = generations.map((generation, index) => ({
    generation,
    writePiece: write.pieces(index, options.timingsPerToken ? speedometer(now) : undefined),
    isOpen: false,
  }));
  for await (const { index, value: piece } of mergeStreams(generations)) {
    const choice = choices[index];
    if (choice === undefined) continue;
    const opening = choice.isOpen ? "" : await options.openingOf(index);
    choice.isOpen = true;
    if (opening !== "") yield write.text(index, opening);
    if (piece !== undefined) yield choice.writePiece(piece);
    else yield write.finish(index, await choice.generation);
  }
  if (options.includeUsage) {
    yield write.usage(toUsage(await Promise.all(generations), options.repliesPerPrompt));
  }
  yield doneEvent;
}

function chunkWriter(head: ResponseFields) {
  const write = eventsWithHead({ ...head, object: "text_completion" } satisfies Partial<CompletionChunk>);
  const event = (rest: Partial<CompletionChunk>): string => write(JSON.stringify(rest));
  const text = (index: number, content: string): string =>
    write(
      `{"choices":[{"index":${index},"text":${JSON.stringify(content)},"logprobs":null,"finish_reason":null}]}`,
    );
  return {
    text,
    /** Writes the pieces of one choice. */
    pieces: (index: number, speed: ((tokens: number) => Speed) | undefined) => {
      const toLogprobs = logprobsWriter();
      return ({ text: content, logprobs, tokens }: GenerationChunk): string => {
        const timings = speed?.(tokens);
        if (logprobs === undefined && timings === undefined) return text(index, content);
        const told = logprobs === undefined ? null : toLogprobs(logprobs);
        return event({
          choices: [{ index, text: content, logprobs: told, finish_reason: null }],
          ...(timings === undefined ? {} : { timings }),
        });
      };
    },
    finish: (index: number, result: GenerationResult): string =>
      event({
        choices: [{ index, text: "", logprobs: null, finish_reason: toFinishReason(result.finishReason) }],
        timings: toTimings([result]),
      }),
    usage: (usage: CompletionChunk["usage"]): string => event({ choices: [], usage }),
  };
}
