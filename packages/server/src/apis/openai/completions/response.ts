// The response to a completion request, complete or in chunks.
import type {
  FinishReason,
  Generation,
  GenerationResult,
  PromptTokenLogprobs,
  TokenLogprobs,
} from "@ingle/engine";
import type {
  Completion,
  CompletionChunk,
  CompletionFinishReason,
  CompletionLogprobs,
} from "@ingle/protocol";
import { eventsWithHead } from "../../../http/event-stream.ts";
import { choiceChunks, type ChunkWriter, type StreamOptions } from "../../../generation/choice-chunks.ts";
import { toTimings, toUsage, type ResponseHead } from "../../../generation/usage.ts";
import { hiddenBefore, logprobsWriter } from "./logprobs.ts";

export interface CompletionOptions {
  repliesPerPrompt: number;
  /** How many of them the response has: the best ones. Default: all. */
  returnedPerPrompt?: number;
  /** Whether the response has the log probabilities of results that have them. Default true. */
  hasLogprobs?: boolean;
  /** Whether it has the ids of their tokens. Default false. */
  hasTokens?: boolean;
  /** The start of a choice's text: its prompt if `echo` is set, else nothing. */
  openingOf: (index: number) => Promise<string>;
  /** Additional fields of a choice's last chunk. */
  atEnd?: (result: GenerationResult) => object;
}

/** One choice per result, in the same order; with `returnedPerPrompt`, only the best for each prompt. */
export async function toCompletion(
  head: ResponseHead,
  results: readonly GenerationResult[],
  {
    repliesPerPrompt,
    returnedPerPrompt = repliesPerPrompt,
    hasLogprobs = true,
    hasTokens = false,
    openingOf,
  }: CompletionOptions,
): Promise<Completion> {
  const replies = await Promise.all(
    results.map(async (result, index) => ({ ...result, opening: await openingOf(index) })),
  );
  return {
    ...head,
    object: "text_completion",
    choices: bestOfEach(replies, repliesPerPrompt, returnedPerPrompt).map(
      ({ opening, text, logprobs, promptLogprobs = [], finishReason }, index) => ({
        index,
        text: `${opening}${text}`,
        logprobs:
          logprobs === undefined || !hasLogprobs
            ? null
            : logprobsWriter(hiddenBefore(opening, promptLogprobs))([...promptLogprobs, ...logprobs]),
        finish_reason: toFinishReason(finishReason),
        ...(hasTokens ? { tokens: (logprobs ?? []).map(({ id }) => id) } : {}),
      }),
    ),
    usage: toUsage(results, repliesPerPrompt),
    timings: toTimings(results, repliesPerPrompt),
  };
}

interface Reply {
  logprobs?: readonly TokenLogprobs[];
}

/**
 * `best_of`: of several replies to a prompt, a completion returns those whose tokens are likeliest on average. The best `returned` of each `generated` consecutive replies, best first. All of them stay in their
 * order.
 */
export function bestOfEach<R extends Reply>(
  replies: readonly R[],
  generated: number,
  returned: number,
): readonly R[] {
  if (returned >= generated) return replies;
  const prompts = Array.from({ length: replies.length / generated }, (_, index) =>
    replies.slice(index * generated, (index + 1) * generated),
  );
  return prompts.flatMap((ofOne) =>
    ofOne.toSorted((one, other) => meanLogprob(other) - meanLogprob(one)).slice(0, returned),
  );
}

/** An empty reply is the worst: it says nothing. */
function meanLogprob({ logprobs = [] }: Reply): number {
  if (logprobs.length === 0) return Number.NEGATIVE_INFINITY;
  return logprobs.reduce((sum, { logprob }) => sum + logprob, 0) / logprobs.length;
}

/** Completions have no tools to call. */
function toFinishReason(reason: FinishReason): CompletionFinishReason {
  return reason === "length" ? "length" : "stop";
}

/** Throws what a generation throws. */
export function toChunks(
  head: ResponseHead,
  generations: readonly Generation[],
  options: CompletionOptions & StreamOptions,
): AsyncGenerator<string, void, undefined> {
  return choiceChunks(generations, chunkWriter(head, generations, options), options);
}

/** Text chunks differ only in their text: the rest is serialized once, before the first token. */
function chunkWriter(
  head: ResponseHead,
  generations: readonly Generation[],
  { openingOf, atEnd, hasLogprobs = true, hasTokens = false }: CompletionOptions,
): ChunkWriter {
  const write = eventsWithHead({ ...head, object: "text_completion" } satisfies Partial<CompletionChunk>);
  const event = (rest: Partial<CompletionChunk>): string => write(JSON.stringify(rest));
  const text = (index: number, content: string): string =>
    write(
      `{"choices":[{"index":${index},"text":${JSON.stringify(content)},"logprobs":null,"finish_reason":null}]}`,
    );
  const logprobsWriters: ReturnType<typeof logprobsWriter>[] = [];
  const toLogprobs = (index: number, tokens: readonly PromptTokenLogprobs[]): CompletionLogprobs =>
    (logprobsWriters[index] ??= logprobsWriter())(tokens);
  return {
    opening: async (index) => {
      const opening = await openingOf(index);
      const prompt = generations[index]?.promptLogprobs ?? [];
      if (prompt.length === 0) return opening === "" ? undefined : text(index, opening);
      logprobsWriters[index] = logprobsWriter(hiddenBefore(opening, prompt));
      const logprobs = toLogprobs(index, prompt);
      return event({ choices: [{ index, text: opening, logprobs, finish_reason: null }] });
    },
    piece: (index, { text: content, logprobs }, timings) => {
      if (logprobs === undefined && timings === undefined) return text(index, content);
      const own = logprobs === undefined || !hasLogprobs ? null : toLogprobs(index, logprobs);
      const tokens = hasTokens ? { tokens: (logprobs ?? []).map(({ id }) => id) } : {};
      return event({
        choices: [{ index, text: content, logprobs: own, finish_reason: null, ...tokens }],
        ...(timings === undefined ? {} : { timings }),
      });
    },
    finish: (index, result) =>
      event({
        choices: [{ index, text: "", logprobs: null, finish_reason: toFinishReason(result.finishReason) }],
        timings: toTimings([result]),
        ...atEnd?.(result),
      }),
    progress: (index, progress) =>
      event({
        choices: [{ index, text: "", logprobs: null, finish_reason: null }],
        prompt_progress: progress,
      }),
    usage: (usage, timings) => event({ choices: [], usage, timings }),
  };
}
