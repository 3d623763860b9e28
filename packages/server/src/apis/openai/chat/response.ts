// The response to a chat request, complete or in chunks.
import type {
  Generation,
  GenerationChunk,
  GenerationResult,
  TokenLogprobs,
  ToolCall,
  ToolCallDelta,
} from "@ingle/engine";
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChoiceLogprobs,
  ToolCall as WireToolCall,
} from "@ingle/protocol";
import { eventsWithHead } from "../../../http/event-stream.ts";
import { choiceChunks, type ChunkWriter, type StreamOptions } from "../../../generation/choice-chunks.ts";
import { toTimings, toTokenLogprobs, toUsage, type ResponseHead } from "../../../generation/usage.ts";

/** What a choice shows of its tokens, beside their text. */
export interface ShownTokens {
  hasLogprobs: boolean;
  hasTokens: boolean;
}

/** One choice per result, in the same order. */
export function toCompletion(
  head: ResponseHead,
  results: readonly GenerationResult[],
  shown: ShownTokens,
): ChatCompletion {
  return {
    ...head,
    object: "chat.completion",
    choices: results.map((result, index) => ({
      index,
      message: toMessage(result),
      finish_reason: result.finishReason,
      logprobs: null,
      ...toChoiceTokens(result.logprobs, shown),
    })),
    usage: toUsage(results),
    timings: toTimings(results),
  };
}

function toChoiceTokens(
  tokens: readonly TokenLogprobs[] | undefined,
  { hasLogprobs, hasTokens }: ShownTokens,
): Pick<Choice, "logprobs" | "tokens"> {
  if (tokens === undefined) return {};
  return {
    ...(hasLogprobs ? { logprobs: toLogprobs(tokens) } : {}),
    ...(hasTokens ? { tokens: tokens.map(({ id }) => id) } : {}),
  };
}

/** A reply that consists of calls has no content, which differs from empty content. */
function toMessage({
  text,
  reasoning,
  toolCalls,
}: GenerationResult): ChatCompletion["choices"][number]["message"] {
  return {
    role: "assistant",
    content: text === "" && toolCalls.length > 0 ? null : text,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(toToolCall) }),
  };
}

/** `atEnd`: additional fields of a choice's last chunk. Throws what a generation throws. */
export function toChunks(
  head: ResponseHead,
  generations: readonly Generation[],
  options: StreamOptions & ShownTokens,
  atEnd?: (result: GenerationResult) => object,
): AsyncGenerator<string, void, undefined> {
  return choiceChunks(generations, chunkWriter(head, options, atEnd), options);
}

type Choice = ChatCompletionChunk["choices"][number];

/** Text chunks differ only in their text: the rest is serialized once, before the first token. */
function chunkWriter(
  head: ResponseHead,
  shown: ShownTokens,
  atEnd?: (result: GenerationResult) => object,
): ChunkWriter {
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
    opening: (index) => event({ choices: [choice(index, { role: "assistant", content: null })] }),
    piece: (index, piece, timings) => {
      const { logprobs } = piece;
      const isPlain =
        piece.reasoning === undefined && piece.toolCalls === undefined && logprobs === undefined;
      if (isPlain && timings === undefined) return text(index, piece.text);
      return event({
        choices: [{ ...choice(index, toDelta(piece)), ...toChoiceTokens(logprobs, shown) }],
        ...(timings === undefined ? {} : { timings }),
      });
    },
    finish: (index, result) =>
      event({
        choices: [choice(index, {}, result.finishReason)],
        timings: toTimings([result]),
        ...atEnd?.(result),
      }),
    progress: (index, progress) => event({ choices: [choice(index, {})], prompt_progress: progress }),
    usage: (usage, timings) => event({ choices: [], usage, timings }),
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

type WireDelta = NonNullable<ChatCompletionChunk["choices"][number]["delta"]["tool_calls"]>[number];

function toToolCall({ id, name, arguments: text }: ToolCall): WireToolCall {
  return { id, type: "function", function: { name, arguments: text } };
}

/** The first part of a call names it; later ones add to its arguments. */
function toToolCallDelta({ index, id, name, arguments: fragment }: ToolCallDelta): WireDelta {
  if (id === undefined) return { index, function: { arguments: fragment } };
  return { index, id, type: "function", function: { name, arguments: fragment } };
}

function toLogprobs(tokens: readonly TokenLogprobs[]): ChoiceLogprobs {
  return { content: toTokenLogprobs(tokens), refusal: null };
}
