import { Completion, CompletionChunk, completionsMax, ErrorBody } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import {
  scriptedApp,
  scriptedId,
  scriptedServer,
  type ScriptedOptions,
} from "../../../../test/harness/scripted-server.ts";

const pieces = ["Hel", "lo ", "wörld", " 🦆"];
const toTokens = (text: string): number[] => Array.from(text, (character) => character.codePointAt(0)! % 256);

interface Received {
  status: number;
  json: () => unknown;
  body: string;
  prompts: number[][];
  sampling: object[];
  maxTokens: number[];
}

/** What is answered to one request, and what of it reached the engine. */
async function post(body: object, options: ScriptedOptions = { script: { pieces } }): Promise<Received> {
  await using scripted = await scriptedApp(options);
  const payload = { model: scriptedId, prompt: "Once", ...body };
  const response = await scripted.app.inject({ method: "POST", url: "/v1/completions", payload });
  const { requests } = scripted.log;
  return {
    status: response.statusCode,
    json: () => response.json(),
    body: response.body,
    prompts: requests.map(({ tokens }) => [...tokens]),
    sampling: requests.map(({ sampling }) => sampling),
    maxTokens: requests.map(({ maxTokens }) => maxTokens),
  };
}

async function complete(body: object): Promise<Completion> {
  return Completion.parse((await post(body)).json());
}

function parseChunks(stream: string): CompletionChunk[] {
  const data = stream
    .split("\n\n")
    .filter((event) => event.startsWith("data: "))
    .map((event) => event.slice(6));
  expect(data.pop()).toBe("[DONE]");
  return data.map((each) => CompletionChunk.parse(JSON.parse(each)));
}

/** The text of every choice, put together. */
function joinTexts(chunks: readonly CompletionChunk[]): string[] {
  const texts: string[] = [];
  for (const { choices } of chunks) {
    for (const { index, text } of choices) texts[index] = `${texts[index] ?? ""}${text}`;
  }
  return texts;
}

describe("an answer in one piece", () => {
  it("has the published form", async () => {
    const options = {
      script: { pieces },
      now: () => new Date(1_700_000_000_500),
      newId: () => "abc",
    };
    const response = await post({}, options);
    expect(Completion.parse(response.json())).toEqual({
      id: "cmpl-abc",
      object: "text_completion",
      created: 1_700_000_000,
      model: scriptedId,
      system_fingerprint: "ingle-scripted-f16-1000",
      choices: [{ index: 0, text: "Hello wörld 🦆", logprobs: null, finish_reason: "stop" }],
      usage: {
        prompt_tokens: 4,
        completion_tokens: 4,
        total_tokens: 8,
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
      timings: {
        prompt_n: 4,
        prompt_ms: 1,
        prompt_per_second: 4000,
        predicted_n: 4,
        predicted_ms: 4,
        predicted_per_second: 750,
        cache_n: 0,
        dropped_n: 0,
      },
    });
  });

  it.each<[object, number]>([
    [{}, 16],
    [{ max_tokens: null }, 16],
    [{ max_tokens: 3 }, 3],
    [{ max_tokens: 3, max_completion_tokens: 5 }, 5],
    [{ max_completion_tokens: 5 }, 5],
    [{ max_tokens: -1 }, -1],
    [{ max_completion_tokens: -1 }, -1],
  ])("asked for with %j may have %i tokens", async (body, limit) => {
    expect((await post(body)).maxTokens).toEqual([limit]);
  });

  it("finishes with length when max_tokens is reached", async () => {
    expect((await complete({ max_tokens: 2 })).choices).toMatchObject([
      { text: "Hello ", finish_reason: "length" },
    ]);
  });

  it("has the prompts' replies in order, all of the first prompt before those of the second", async () => {
    const { choices, usage } = await complete({ prompt: ["a", "bc"], n: 2, echo: true });
    expect(choices.map(({ index, text }) => [index, text])).toEqual([
      [0, "aHello wörld 🦆"],
      [1, "aHello wörld 🦆"],
      [2, "bcHello wörld 🦆"],
      [3, "bcHello wörld 🦆"],
    ]);
    expect(usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 16, total_tokens: 19 });
  });

  it("echoes the text of token ids", async () => {
    const { choices } = await complete({ prompt: [toTokens("Say "), toTokens("it")], echo: true });
    expect(choices.map(({ text }) => text)).toEqual(["Say Hello wörld 🦆", "itHello wörld 🦆"]);
  });
});

describe("what reaches the engine", () => {
  it.each<[string, unknown, number[][]]>([
    ["a text", "ab", [[97, 98]]],
    ["texts", ["a", "b"], [[97], [98]]],
    ["token ids", [7, 8], [[7, 8]]],
    ["lists of token ids", [[7], [8, 9]], [[7], [8, 9]]],
  ])("is %s as it was given", async (_, prompt, tokens) => {
    expect((await post({ prompt })).prompts).toEqual(tokens);
  });

  it("takes the last integer as a seed of several replies, too", async () => {
    const { status } = await post({ n: 2, seed: Number.MAX_SAFE_INTEGER });
    expect(status).toBe(200);
  });

  it("is sampled as it was asked for, each reply to a prompt with a seed of its own", async () => {
    const { sampling } = await post({ prompt: ["a", "b"], n: 2, seed: 5, temperature: 0.5, top_k: 7 });
    const common = { temperature: 0.5, topK: 7 };
    expect(sampling).toMatchObject([5, 6, 5, 6].map((seed) => ({ ...common, seed })));
  });

  it.each([{ seed: -1 }, { seed: -1, n: 4 }, { seed: -2, n: 4 }])(
    "has other seeds for each reply, of %o too",
    async (body) => {
      const first = await post({ prompt: "a", n: 1, ...body });
      const again = await post({ prompt: "a", n: 1, ...body });
      const seeds = [...first.sampling, ...again.sampling].map((sampling) => JSON.stringify(sampling));
      // -1 is random for each; other seeds are the same again.
      expect(new Set(seeds).size).toBe(body.seed === -1 ? seeds.length : seeds.length / 2);
    },
  );

  it("has the variant's top_k where nothing is said", async () => {
    const options = { flags: { variant: "command-line" as const } };
    expect((await post({}, options)).sampling).toMatchObject([{ topK: 50 }]);
  });
});

describe("a stream", () => {
  it.each<object>([
    {},
    { echo: true },
    { prompt: ["a", "b"], n: 2, echo: true },
    { max_tokens: 1 },
    { timings_per_token: true },
  ])("of %j is the same text as the answer in one piece", async (body) => {
    const whole = await complete(body);
    const chunks = parseChunks((await post({ ...body, stream: true })).body);
    expect(joinTexts(chunks)).toEqual(whole.choices.map(({ text }) => text));
    const reasons = chunks.flatMap(({ choices }) => choices).filter((each) => each.finish_reason !== null);
    expect(reasons.map(({ text, finish_reason }) => [text, finish_reason])).toEqual(
      whole.choices.map(({ finish_reason }) => ["", finish_reason]),
    );
  });

  it("has the same head in every chunk, and whole timings in the last one of a choice", async () => {
    const chunks = parseChunks((await post({ stream: true })).body);
    expect(new Set(chunks.map(({ id, created, model }) => JSON.stringify([id, created, model]))).size).toBe(
      1,
    );
    expect(chunks.at(-1)?.timings).toMatchObject({ prompt_n: 4, predicted_n: 4 });
    expect(chunks.filter(({ timings }) => timings !== undefined)).toHaveLength(1);
  });

  it("ends with the usage of all prompts, only when asked", async () => {
    const body = { stream: true, prompt: ["a", "bc"], n: 2 };
    const asked = await post({ ...body, stream_options: { include_usage: true } });
    expect(parseChunks(asked.body).at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 3, completion_tokens: 16 },
    });
    expect((await post(body)).body).not.toContain("usage");
  });

  it("tells the speed so far with timings_per_token", async () => {
    const chunks = parseChunks((await post({ stream: true, timings_per_token: true })).body);
    expect(chunks.slice(0, 4).map(({ timings }) => timings?.predicted_n)).toEqual([1, 2, 3, 4]);
  });

  it("that fails after its first chunk ends with one error event and no [DONE]", async () => {
    const failure = { code: "engine_failed" as const, message: "The device is gone." };
    const { status, body } = await post({ stream: true }, { script: { pieces, failure } });
    expect(status).toBe(200);
    expect(body.endsWith('"code":"engine_failed"}}\n\n')).toBe(true);
    expect(body).not.toContain("[DONE]");
  });

  it("is cancelled, with all its replies, when its client leaves", async () => {
    const script = { pieces: Array.from({ length: 1000 }, () => "x"), delayMs: 5 };
    await using scripted = await scriptedServer({ script });
    const response = await fetch(`${scripted.server.url}/v1/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: scriptedId, prompt: ["a", "b"], n: 2, stream: true, max_tokens: -1 }),
    });
    await expect.poll(() => scripted.log.running.size).toBe(4);
    await response.body?.cancel();
    await expect.poll(() => scripted.log.running.size).toBe(0);
    expect(scripted.log.cancelled).toHaveLength(4);
  });
});

describe("a request that cannot be answered", () => {
  it.each<[object, string]>([
    [{ prompt: undefined }, "prompt"],
    [{ prompt: [256] }, "prompt"],
    [{ prompt: ["a"], n: 2, best_of: 1 }, "best_of"],
    [{ prompt: Array.from({ length: completionsMax }, () => "a"), n: 2 }, "n"],
    [{ logprobs: 6 }, "logprobs"],
    [{ logprobs: 1, echo: true, suffix: "." }, "suffix"],
    [{ suffix: "end" }, "suffix"],
    [{ temperature: -1 }, "temperature"],
    [{ stream: true, prompt: [[1], [256]] }, "prompt"],
  ])("for %j is a 400 that names the field", async (body, param) => {
    const { status, json } = await post(body);
    expect([status, ErrorBody.parse(json()).error]).toMatchObject([400, { code: "invalid_request", param }]);
  });

  it("for a model without tokens for it does not take a suffix for nothing", async () => {
    const { error } = ErrorBody.parse((await post({ suffix: "end" })).json());
    expect(error.message).toContain("leave it out");
    expect((await post({ suffix: "" })).status).toBe(200);
  });

  it("because there are fewer places than replies is a 429", async () => {
    const options = { script: { pieces, parallel: 2 }, flags: { waitingMax: 1 } };
    const body = { prompt: ["a", "b"], n: 2 };
    expect((await post(body, options)).status).toBe(429);
    expect((await post({ ...body, n: 1 }, options)).status).toBe(200);
  });
});

describe("several replies of which one fails", () => {
  it.each([false, true])("end together, though the others have not begun (stream: %s)", async (stream) => {
    const refusal = { only: 2, code: "context_length_exceeded", message: "Too long." } as const;
    await using scripted = await scriptedApp({ script: { pieces, delayMs: 60_000, refusal } });
    const payload = { model: scriptedId, prompt: ["a", "b", "c"], stream };
    const response = await scripted.app.inject({ method: "POST", url: "/v1/completions", payload });
    expect([response.statusCode, ErrorBody.parse(response.json()).error.code]).toEqual([
      400,
      "context_length_exceeded",
    ]);
    await expect.poll(() => scripted.log.running.size).toBe(0);
  });
});
