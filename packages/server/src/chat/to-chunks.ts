// A running generation as the events of a streamed answer. Used by routes/chat-completions.ts.
// Everything but the text of a chunk is the same for all of them, so it is written once, before the first token.
import type { Generation, GenerationResult } from "@ingle/engine";
import type { ChatCompletionChunk } from "@ingle/protocol";
import { perSecond, toTimings, toUsage, type AnswerHead } from "./answer.ts";
import { dataEvent, doneEvent } from "./sse.ts";

export interface ChunkOptions {
  /** Ends the stream with a chunk that has no choices but the usage. */
  includeUsage: boolean;
  /** Adds the speed so far to every chunk with text. */
  timingsPerToken: boolean;
  /** Milliseconds of a clock that only goes forward. */
  now?: () => number;
}

/**
 * The first event is not written before the first piece of text is there: until then an error is an HTTP error.
 * Throws what the generation throws.
 */
export async function* toChunks(
  head: AnswerHead,
  generation: Generation,
  options: ChunkOptions,
): AsyncGenerator<string, void, undefined> {
  const write = chunkWriter(head);
  const speed = options.timingsPerToken ? speedometer(options.now ?? (() => performance.now())) : undefined;
  let isOpened = false;
  for await (const { text, tokens } of generation) {
    if (!isOpened) yield write.opening;
    isOpened = true;
    yield write.text(text, speed?.(tokens));
  }
  const result = await generation;
  if (!isOpened) yield write.opening;
  yield write.finish(result);
  if (options.includeUsage) yield write.usage(result);
  yield doneEvent;
}

type Choice = ChatCompletionChunk["choices"][number];

function chunkWriter(head: AnswerHead) {
  const fields = JSON.stringify({
    ...head,
    object: "chat.completion.chunk",
  } satisfies Partial<ChatCompletionChunk>);
  const open = `${fields.slice(0, -1)},`;
  const beforeText = `data: ${open}"choices":[{"index":0,"delta":{"content":`;
  const afterText = `},"finish_reason":null}]`;
  const event = (rest: Partial<ChatCompletionChunk>): string =>
    dataEvent(open + JSON.stringify(rest).slice(1));
  const choice = (
    delta: Choice["delta"],
    reason: Choice["finish_reason"],
  ): Pick<ChatCompletionChunk, "choices"> => ({
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
  return {
    opening: event(choice({ role: "assistant", content: null }, null)),
    text: (text: string, speed: Speed | undefined): string => {
      const timings = speed === undefined ? "" : `,"timings":${JSON.stringify(speed)}`;
      return `${beforeText}${JSON.stringify(text)}${afterText}${timings}}\n\n`;
    },
    finish: (result: GenerationResult): string =>
      event({ ...choice({}, result.finishReason), timings: toTimings(result) }),
    usage: (result: GenerationResult): string => event({ choices: [], usage: toUsage(result) }),
  };
}

/** What is known of the timings while the text still runs; the last chunk has all of them. */
type Speed = Pick<
  NonNullable<ChatCompletionChunk["timings"]>,
  "predicted_n" | "predicted_ms" | "predicted_per_second"
>;

/** Counts tokens from the first piece on: what came before it was the prompt's time. */
function speedometer(now: () => number): (tokens: number) => Speed {
  let startedAt: number | undefined;
  let count = 0;
  return (tokens) => {
    startedAt ??= now();
    count += tokens;
    const elapsed = now() - startedAt;
    return { predicted_n: count, predicted_ms: elapsed, predicted_per_second: perSecond(count, elapsed) };
  };
}
