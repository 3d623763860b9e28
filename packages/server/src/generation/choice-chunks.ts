// The stream of a response that has several choices, as chat completions and completions send it: the chunks of all choices, in
// the order in which their tokens come, then the usage and `[DONE]`. Each route decides how a chunk is written.
import type { Generation, GenerationChunk, GenerationResult } from "@ingle/engine";
import type { PromptProgress, Timings, Usage } from "@ingle/protocol";
import { doneEvent } from "../http/event-stream.ts";
import { perSecond } from "../seconds.ts";
import { toPromptProgress, toTimings, toUsage } from "./usage.ts";

export interface StreamOptions {
  /** Whether to add a last chunk that has the usage and no choices. */
  includeUsage: boolean;
  /** Whether to add the speed so far to every chunk with text. */
  timingsPerToken: boolean;
  /** How many consecutive choices share a prompt. Default: all. */
  repliesPerPrompt?: number;
  /** Monotonic clock, in milliseconds. */
  now?: () => number;
}

export function toStreamOptions(body: {
  stream_options?: { include_usage?: boolean | undefined } | undefined;
  timings_per_token?: boolean | undefined;
}): StreamOptions {
  return {
    includeUsage: body.stream_options?.include_usage ?? false,
    timingsPerToken: body.timings_per_token ?? false,
  };
}

/** Writes the chunks of one response as events. */
export interface ChunkWriter {
  /** The start of a choice; undefined for none. */
  opening: (index: number) => string | undefined | Promise<string | undefined>;
  piece: (index: number, piece: GenerationChunk, timings: Speed | undefined) => string;
  finish: (index: number, result: GenerationResult) => string;
  /** How much of the prompt is computed, before the choice begins; only if the request asks for it. */
  progress: (index: number, progress: PromptProgress) => string;
  usage: (usage: Usage, timings: Timings) => string;
}

/**
 * One choice per generation. Unless the prompt's progress is reported, the first event comes with the first token: until then an
 * error is an HTTP error.
 * Throws what a generation throws.
 */
export async function* choiceChunks(
  generations: readonly Generation[],
  write: ChunkWriter,
  { includeUsage, timingsPerToken, repliesPerPrompt, now = () => performance.now() }: StreamOptions,
): AsyncGenerator<string, void, undefined> {
  const choices = generations.map((generation) => ({
    generation,
    speed: timingsPerToken ? speedometer(now) : undefined,
    isOpen: false,
  }));
  for await (const { index, value: piece } of mergeStreams(generations)) {
    const choice = choices[index];
    if (choice === undefined) continue;
    if (piece?.prompt !== undefined) {
      yield write.progress(index, toPromptProgress(piece.prompt));
      continue;
    }
    if (!choice.isOpen) {
      choice.isOpen = true;
      const opening = await write.opening(index);
      if (opening !== undefined) yield opening;
    }
    if (piece !== undefined) yield write.piece(index, piece, choice.speed?.(piece.tokens));
    else yield write.finish(index, await choice.generation);
  }
  if (includeUsage) {
    const results = await Promise.all(generations);
    yield write.usage(toUsage(results, repliesPerPrompt), toTimings(results, repliesPerPrompt));
  }
  yield doneEvent;
}

/** The timings known while a reply is generated; its last chunk has all of them. */
export type Speed = Pick<Timings, "predicted_n" | "predicted_ms" | "predicted_per_second">;

/** Counts tokens from the first piece on: the time before it, and that piece itself, belong to the prompt. */
export function speedometer(now: () => number): (tokens: number) => Speed {
  let startedAt: number | undefined;
  let first = 0;
  let count = 0;
  return (tokens) => {
    if (startedAt === undefined) first = tokens;
    startedAt ??= now();
    count += tokens;
    const elapsed = now() - startedAt;
    const perTime = perSecond(count - first, elapsed);
    return { predicted_n: count, predicted_ms: elapsed, predicted_per_second: perTime };
  };
}

interface StreamItem<T> {
  index: number;
  /** Undefined once the stream has ended. */
  value: T | undefined;
}

/** Several streams as one, in the order of arrival. The first error ends all of them; so does breaking out of the loop. */
export async function* mergeStreams<T>(
  streams: readonly AsyncIterable<T>[],
): AsyncGenerator<StreamItem<T>, void, undefined> {
  const iterators = streams.map((stream) => stream[Symbol.asyncIterator]());
  const pending = new Map(iterators.map((iterator, index) => [index, requested(iterator, index)]));
  try {
    while (pending.size > 0) {
      const { index, result } = await Promise.race(pending.values());
      const iterator = iterators[index];
      if (result.done === true || iterator === undefined) pending.delete(index);
      else pending.set(index, requested(iterator, index));
      yield { index, value: result.done === true ? undefined : result.value };
    }
  } finally {
    // Nobody reads the other streams any more, or their errors.
    for (const index of pending.keys()) void iterators[index]?.return?.().catch(() => {});
  }
}

/** Requests the next item before anybody waits for it; an error is kept until somebody does. */
function requested<T>(
  iterator: AsyncIterator<T>,
  index: number,
): Promise<{ index: number; result: IteratorResult<T> }> {
  const piece = next(iterator, index);
  piece.catch(() => {});
  return piece;
}

async function next<T>(
  iterator: AsyncIterator<T>,
  index: number,
): Promise<{ index: number; result: IteratorResult<T> }> {
  return { index, result: await iterator.next() };
}
