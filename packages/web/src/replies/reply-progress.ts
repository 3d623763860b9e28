// Assembles replies from the chunks of a stream, one reply per choice. Pure, with a clock as a parameter.
import type { ChatCompletionChunk, Timings, Usage } from "@ingle/protocol";

import type { Reply, ReplyFigures, ToolCall, ToolStep } from "../conversations/conversation.ts";

/** A reply so far. */
export interface ReplyProgress {
  text: string;
  thinking: string;
  thinkingMs: number | null;
  finish: Reply["finish"];
  figures: ReplyFigures | null;
  /** What came before this text: each step ends with calls. */
  steps: readonly ToolStep[];
}

export interface RequestProgress {
  readonly replies: readonly ReplyProgress[];
  add(chunk: ChatCompletionChunk): void;
  /** Ends the text so far of the only reply with calls. What is added next follows their results. */
  beginStep(calls: readonly ToolCall[]): void;
  /** Replaces the calls of the last step. */
  changeCalls(calls: readonly ToolCall[]): void;
}

interface Timed extends ReplyProgress {
  thoughtSince: number | null;
  /** Thinking time before this stream, for a reply that is continued. */
  thoughtBefore: number;
}

/** Starts with empty replies, or with those to continue. */
export function createProgress(
  begun: readonly (Pick<ReplyProgress, "text" | "thinking" | "thinkingMs"> &
    Partial<Pick<ReplyProgress, "steps">>)[],
  now: () => number,
): RequestProgress {
  const replies = begun.map((before): Timed => ({
    steps: [],
    ...before,
    finish: null,
    figures: null,
    thoughtSince: null,
    thoughtBefore: before.thinkingMs ?? 0,
  }));
  return {
    replies,
    add({ choices, usage, timings }) {
      for (const { index, delta, finish_reason } of choices) {
        const reply = replies[index];
        if (reply === undefined) continue;
        addDelta(reply, delta.reasoning_content ?? "", delta.content ?? "", now);
        reply.finish = finish_reason ?? reply.finish;
        if (timings?.predicted_n !== undefined) reply.figures = toFigures(timings, timings.predicted_n);
      }
      const only = replies[0];
      if (usage !== undefined && usage !== null && replies.length === 1 && only !== undefined) {
        only.figures = withUsage(only.figures, usage);
      }
    },
    beginStep(calls) {
      const [only] = replies;
      if (only === undefined) return;
      const step = { text: only.text, thinking: only.thinking, calls: [...calls] };
      const empty = { text: "", thinking: "", thinkingMs: null, thoughtSince: null, thoughtBefore: 0 };
      Object.assign(only, empty, { finish: null, steps: [...only.steps, step] });
    },
    changeCalls(calls) {
      const [only] = replies;
      const last = only?.steps.at(-1);
      if (only !== undefined && last !== undefined)
        only.steps = [...only.steps.slice(0, -1), { ...last, calls: [...calls] }];
    },
  };
}

function addDelta(reply: Timed, thinking: string, text: string, now: () => number): void {
  if (thinking !== "") {
    reply.thoughtSince ??= now();
    reply.thinking += thinking;
  }
  if (text === "") return;
  if (reply.thoughtSince !== null) {
    reply.thoughtBefore += now() - reply.thoughtSince;
    reply.thinkingMs = reply.thoughtBefore;
    reply.thoughtSince = null;
  }
  reply.text += text;
}

/** Before the last chunk of a choice, the prompt's part is missing. */
function toFigures(timings: Partial<Timings>, completionTokens: number): ReplyFigures {
  const { prompt_n, cache_n, prompt_ms = null, predicted_per_second = 0 } = timings;
  return {
    promptTokens: prompt_n === undefined || cache_n === undefined ? null : prompt_n + cache_n,
    cachedTokens: cache_n ?? null,
    completionTokens,
    tokensPerSecond: predicted_per_second,
    promptMs: prompt_ms,
  };
}

/** The usage of a single reply also counts tokens that the timings omit, such as dropped ones. */
function withUsage(figures: ReplyFigures | null, usage: Usage): ReplyFigures | null {
  if (figures === null) return null;
  return {
    ...figures,
    promptTokens: usage.prompt_tokens,
    cachedTokens: usage.prompt_tokens_details.cached_tokens,
    completionTokens: usage.completion_tokens,
  };
}
