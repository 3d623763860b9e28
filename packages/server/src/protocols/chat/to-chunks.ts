// Running generations, one a choice, as the events of a streamed answer. Used by routes/chat-completions.ts.
// Everything but the text of a chunk is the same for all of them, so it is written once, before the first token.
import type { Generation, GenerationChunk, GenerationResult } from "@ingle/engine";
import type { ChatCompletionChunk } from "@ingle/protocol";
import { toTimings, toUsage, type ResponseFields } from "../usage.ts";
import { mergeStreams } from "../choice-chunks.ts";
import { speedometer, type Speed } from "../speedometer.ts";
import { doneEvent, eventsWithHead } from "../../http/event-stream.ts";
import type { StreamOptions } from "../stream-options.ts";
import { toLogprobs, toToolCallDelta } from "./choices.ts";

/**
 * The first event is not written before the first piece is there: until then an error is an HTTP error.
 * Throws what a generation throws.
 */
export async function* toChunks(
  head: ResponseFields,
  generations: readonly Generation[],
  options: StreamOptions,
): AsyncGenerator<string, void, undefined> {
  const write = chunkWriter(head);
  const now = options.now ?? (() => performance.now());
  const speeds = generations.map(() => (options.timingsPerToken ? speedometer(now) : undefined));
  const opened = new Set<number>();
  for await (const { index, value: piece } of mergeStreams(generations)) {
    if (!opened.has(index)) yield write.opening(index);
    opened.add(index);
    const generation = generations[index];
    if (piece !== undefined) yield write.piece(index, piece, speeds[index]?.(piece.tokens));
    else if (generation !== undefined) yield write.finish(index, await generation);
  }
  if (options.includeUsage) yield write.usage(await Promise.all(generations));
  yield doneEvent;
}

type Choice = ChatCompletionChunk["choices"][number];

function chunkWriter(head: ResponseFields) {
  const write = eventsWithHead({
    ...head,
    object: "chat.completion.chunk",
  } satisfies Partial<ChatCompletionChunk>);
  const event = (rest: Partial<ChatCompletionChunk>): string => write(JSON.stringify(rest));
  const choice = (index: number, delta: Choice["delta"], reason: Choice["finish_reason"] = null): Choice => ({
    index,
    delta,
    finish_reason: reason,
  });
  const text = (index: number, content: string): string =>
    write(
      `{"choices":[{"index":${index},"delta":{"content":${JSON.stringify(content)}},"finish_reason":null}]}`,
    );
  return {
    opening: (index: number): string =>
      event({ choices: [choice(index, { role: "assistant", content: null })] }),
    piece: (index: number, piece: GenerationChunk, timings: Speed | undefined): string => {
      const { logprobs } = piece;
      const isPlain =
        piece.reasoning === undefined && piece.toolCalls === undefined && logprobs === undefined;
      if (isPlain && timings === undefined) return text(index, piece.text);
      const told = logprobs === undefined ? {} : { logprobs: toLogprobs(logprobs) };
      return event({
        choices: [{ ...choice(index, toDelta(piece)), ...told }],
        ...(timings === undefined ? {} : { timings }),
      });
    },
    finish: (index: number, result: GenerationResult): string =>
      event({ choices: [choice(index, {}, result.finishReason)], timings: toTimings([result]) }),
    usage: (results: readonly GenerationResult[]): string => event({ choices: [], usage: toUsage(results) }),
  };
}

function toDelta({ text, reasoning, toolCalls }: GenerationChunk): Choice["delta"] {
  const isOther = reasoning !== undefined || toolCalls !== undefined;
  return {
    ...(text === "" && isOther ? {} : { content: text }),
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
    ...(toolCalls === undefined ? {} : { tool_calls: toolCalls.map(toToolCallDelta) }),
  };
}
