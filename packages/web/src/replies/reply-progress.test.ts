import type { ChatCompletionChunk } from "@ingle/protocol";
import { describe, expect, it } from "vitest";

import { createProgress } from "./reply-progress.ts";

const head = {
  id: "chatcmpl-1",
  created: 0,
  model: "m",
  system_fingerprint: "f",
  object: "chat.completion.chunk",
} as const;

type Delta = ChatCompletionChunk["choices"][number]["delta"];

function chunk(delta: Delta, index = 0, finish: "stop" | "length" | null = null): ChatCompletionChunk {
  return { ...head, choices: [{ index, delta, finish_reason: finish }] };
}

const timings = {
  prompt_n: 10,
  prompt_ms: 120.5,
  prompt_per_second: 83,
  predicted_n: 8,
  predicted_ms: 160,
  predicted_per_second: 43.7,
  cache_n: 16,
  dropped_n: 0,
};

const empty = { text: "", thinking: "", thinkingMs: null };

describe("createProgress", () => {
  it("joins texts and thoughts, and measures the thinking", () => {
    let now = 1_000;
    const progress = createProgress([empty], () => now);
    progress.add(chunk({ role: "assistant", content: null }));
    progress.add(chunk({ reasoning_content: "Let me " }));
    now = 3_500;
    progress.add(chunk({ reasoning_content: "think" }));
    expect(progress.replies[0]).toMatchObject({ thinking: "Let me think", thinkingMs: null });
    now = 4_000;
    progress.add(chunk({ content: "Par" }));
    now = 9_000;
    progress.add(chunk({ content: "is" }, 0, "stop"));
    expect(progress.replies[0]).toMatchObject({ text: "Paris", thinkingMs: 3_000, finish: "stop" });
  });

  it("continues a reply", () => {
    const progress = createProgress([{ text: "1, 2", thinking: "hm", thinkingMs: 500 }], () => 0);
    progress.add(chunk({ content: ", 3" }));
    expect(progress.replies[0]).toMatchObject({ text: "1, 2, 3", thinking: "hm", thinkingMs: 500 });
  });

  it("begins a new text after a step, and keeps the steps of a continued reply", () => {
    let now = 0;
    const call = {
      id: "1",
      name: "read",
      arguments: "{}",
      place: null,
      status: "waiting" as const,
      content: [],
    };
    const first = { text: "One.", thinking: "", calls: [] };
    const progress = createProgress([{ ...empty, steps: [first] }], () => now);
    progress.add(chunk({ reasoning_content: "hm" }));
    now = 500;
    progress.add(chunk({ content: "Let me look." }));
    progress.add({ ...chunk({}), choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] });
    progress.beginStep([call]);
    const step = { text: "Let me look.", thinking: "hm", calls: [call] };
    expect(progress.replies[0]).toMatchObject({ ...empty, finish: null, steps: [first, step] });
    const { steps: shown } = progress.replies[0] ?? { steps: [] };
    progress.changeCalls([{ ...call, status: "done" }]);
    expect(shown[1]?.calls[0]?.status).toBe("waiting");
    expect(progress.replies[0]?.steps[1]?.calls[0]?.status).toBe("done");
    progress.add(chunk({ content: "Milk." }, 0, "stop"));
    expect(progress.replies[0]).toMatchObject({
      text: "Milk.",
      thinking: "",
      thinkingMs: null,
      finish: "stop",
    });
  });

  it("keeps the choices apart, with the timings of each", () => {
    const progress = createProgress([empty, empty], () => 0);
    progress.add(chunk({ content: "a" }, 0));
    progress.add(chunk({ content: "b" }, 1));
    progress.add({ ...chunk({}, 1, "length"), timings: { ...timings, predicted_n: 3 } });
    progress.add({ ...chunk({}, 0, "stop"), timings });
    progress.add(chunk({ content: "of a choice that was not asked for" }, 7));
    expect(progress.replies.map(({ text, finish }) => [text, finish])).toEqual([
      ["a", "stop"],
      ["b", "length"],
    ]);
    expect(progress.replies.map(({ figures }) => figures?.completionTokens)).toEqual([8, 3]);
  });

  it("reports the server's figures, and prefers usage to timings", () => {
    const progress = createProgress([empty], () => 0);
    progress.add({ ...chunk({ content: "x" }), timings: { predicted_n: 1, predicted_per_second: 40 } });
    expect(progress.replies[0]?.figures).toEqual({
      promptTokens: null,
      cachedTokens: null,
      completionTokens: 1,
      tokensPerSecond: 40,
      promptMs: null,
    });
    progress.add({ ...chunk({}, 0, "stop"), timings });
    progress.add({
      ...head,
      choices: [],
      usage: {
        prompt_tokens: 27,
        completion_tokens: 9,
        total_tokens: 36,
        prompt_tokens_details: { cached_tokens: 16 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
    });
    expect(progress.replies[0]?.figures).toEqual({
      promptTokens: 27,
      cachedTokens: 16,
      completionTokens: 9,
      tokensPerSecond: 43.7,
      promptMs: 120.5,
    });
  });
});
