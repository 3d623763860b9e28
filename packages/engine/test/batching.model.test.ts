// Concurrent requests: each gets the same result as alone, and leaves nothing behind.
import type { Generation, GenerationResult, LoadedModel } from "@ingle/engine";
import { until } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadExact, prompts, within } from "./tiny.ts";

describe("concurrent requests", () => {
  let loaded: LoadedModel;
  beforeAll(async () => {
    loaded = await loadExact({ contextLength: 1024, parallel: 8 });
  });
  afterAll(() => loaded[Symbol.asyncDispose]());

  const idle = (): boolean => loaded.model.stats().running === 0 && loaded.model.stats().waiting === 0;

  it("generate the same texts as sequential ones, at temperature 0", async () => {
    const requests = prompts(8).map((prompt) => ({ prompt, temperature: 0, maxTokens: 48 }));
    const alone: string[] = [];
    for (const request of requests) alone.push((await loaded.model.generate(request)).text);
    const together = await Promise.all(
      requests.map(async (request) => (await loaded.model.generate(request)).text),
    );
    expect(together).toEqual(alone);
    expect(new Set(alone).size).toBe(8);
  });

  // The rest of the batch changes the order of additions; nothing is rounded to 16 bits on the way. The measured difference is 5e-6.
  it("have the same probabilities as sequential ones", async () => {
    const requests = prompts(24).map((prompt, seed) => ({ prompt, seed, maxTokens: 20, logprobs: 1 }));
    const ask = async (request: (typeof requests)[number]): Promise<GenerationResult> =>
      await loaded.model.generate({ ...request, cachePrompt: false });
    const alone: GenerationResult[] = [];
    for (const request of requests) alone.push(await ask(request));
    const together = await Promise.all(requests.map(ask));
    const probabilities = (results: GenerationResult[]): number[] =>
      results.flatMap(({ logprobs }) => (logprobs ?? []).map(({ logprob }) => logprob));
    expect(together.map(({ text }) => text)).toEqual(alone.map(({ text }) => text));
    const expected = probabilities(alone);
    expect(expected).toHaveLength(24 * 20);
    const greatest = probabilities(together).reduce(
      (most, logprob, index) => Math.max(most, Math.abs(logprob - (expected[index] ?? NaN))),
      0,
    );
    expect(greatest).toBeLessThan(1e-4);
  });

  it("all finish if there are forty for eight sequences, each with its own seed", async () => {
    const say = async (prompt: string, seed: number): Promise<string> =>
      (await loaded.model.generate({ prompt, seed, maxTokens: 12 }, { client: `client ${seed % 5}` })).text;
    const texts = await within(60_000, Promise.all(prompts(40).map(say)));
    expect(texts.every((text) => text.length > 0)).toBe(true);
    await until(idle);
    expect(loaded.model.stats().cellsUsed).toBe(0);
  });

  it("are preempted instead of failing if KV cells run out, and their texts stay the same", async () => {
    await using tight = await loadExact({ contextLength: 400, cells: 500, parallel: 4 });
    const requests = prompts(6).map((prompt) => ({ prompt, temperature: 0, maxTokens: 300 }));
    const together = await within(
      120_000,
      Promise.all(requests.map(async (request) => (await tight.model.generate(request)).text)),
    );
    expect(tight.model.stats().preemptions).toBeGreaterThan(0);
    await using roomy = await loadExact({ contextLength: 400, parallel: 1 });
    for (const [index, request] of requests.entries()) {
      expect((await roomy.model.generate(request)).text).toBe(together[index]);
    }
  });

  it("fail with `overloaded` if the waiting queue is full, and the others are served", async () => {
    await using small = await loadExact({ contextLength: 256, parallel: 1, waitingMax: 2 });
    const results = await Promise.allSettled(
      prompts(8).map(async (prompt) => await small.model.generate({ prompt, maxTokens: 20 })),
    );
    const refused = results.filter((result) => result.status === "rejected");
    expect(refused.length).toBe(5);
    for (const result of refused) expect(result.reason).toMatchObject({ code: "overloaded" });
    expect((await small.model.generate({ prompt: "later", maxTokens: 3 })).text).not.toBe("");
  });

  async function cancelled(generation: Generation, reason: Error): Promise<void> {
    await expect(within(5000, Promise.resolve(generation))).rejects.toBe(reason);
  }

  it("can be cancelled in the queue, in prefill and while decoding, without affecting others", async () => {
    await using few = await loadExact({
      contextLength: 2048,
      parallel: 2,
      batchTokens: 16,
      batchTokensBusy: 2,
    });
    const { model } = few;
    const witness = { prompt: "The witness", temperature: 0, maxTokens: 600 };
    const expected = (await model.generate(witness)).text;
    const running = model.generate(witness);

    const inPrefill = new AbortController();
    const prefilling = model.generate({ prompt: "long ".repeat(1500) }, { signal: inPrefill.signal });
    await until(() => model.stats().running === 2);
    const queued = new AbortController();
    const waiting = model.generate({ prompt: "waits" }, { signal: queued.signal });
    await until(() => model.stats().waiting === 1);

    queued.abort(new Error("left the queue"));
    await cancelled(waiting, queued.signal.reason);
    await until(() => model.stats().waiting === 0);
    expect(model.stats().running).toBe(2);
    inPrefill.abort(new Error("left the prefill"));
    await cancelled(prefilling, inPrefill.signal.reason);
    await until(() => model.stats().running === 1);

    const decoding = model.generate({ prompt: "talks on", maxTokens: 1500 });
    let seen = 0;
    for await (const chunk of decoding) {
      seen += chunk.tokens;
      if (seen > 5) break; // leaving the loop cancels the generation
    }
    await until(() => model.stats().running <= 1);
    expect((await running).text).toBe(expected);
    await until(() => model.stats().running === 0);
    expect(model.stats().cellsUsed).toBe(0);
  });

  it("survive many cancellations at random moments", async () => {
    const done = await within(
      60_000,
      Promise.allSettled(
        prompts(60).map(async (prompt, index) => {
          const controller = new AbortController();
          const generation = loaded.model.generate(
            { prompt, seed: index, maxTokens: 60 },
            { signal: controller.signal },
          );
          setTimeout(() => controller.abort(new Error("gone")), (index * 37) % 150);
          return await generation;
        }),
      ),
    );
    expect(done.length).toBe(60);
    await until(idle);
    expect(loaded.model.stats().cellsUsed).toBe(0);
    const { text } = await loaded.model.generate({ prompt: "still here", temperature: 0, maxTokens: 5 });
    expect(text).not.toBe("");
  });
});

describe("priority", () => {
  it("goes before requests that came earlier, takes the place of one that runs, and changes no text", async () => {
    await using tight = await loadExact({ contextLength: 2_048, parallel: 1 });
    const { model } = tight;
    const ask = (prompt: string, maxTokens: number, priority?: "low" | "high") =>
      model.generate({ prompt, maxTokens, temperature: 0, ignoreEos: true }, { priority });
    const { text: alone } = await ask("A long story", 1_900);
    const ends: string[] = [];
    const running = ask("A long story", 1_900, "low");
    await running[Symbol.asyncIterator]().next(); // it runs
    const waiting = ask("Another story", 60);
    const urgent = ask("Quick", 4, "high");
    await Promise.all(
      Object.entries({ running, waiting, urgent }).map(async ([name, generation]) => {
        await generation;
        ends.push(name);
      }),
    );
    expect(ends).toEqual(["urgent", "waiting", "running"]);
    expect((await running).text).toBe(alone);
    expect(model.stats().preemptions).toBeGreaterThan(0);
  });

  it("computes what is in the background only while nothing else runs, and changes no text", async () => {
    await using roomy = await loadExact({ contextLength: 2_048, parallel: 2 });
    const { model } = roomy;
    const ask = (prompt: string, maxTokens: number, priority?: "background") =>
      model.generate({ prompt, maxTokens, temperature: 0, ignoreEos: true }, { priority });
    const { text: alone } = await ask("A long story", 1_500);
    let behind = 0;
    const running = ask("A long story", 1_500, "background");
    const read = (async () => {
      for await (const _ of running) behind += 1;
    })();
    await until(() => behind > 3);
    let first: number | undefined;
    for await (const _ of ask("A question", 60)) first ??= behind;
    // What was on its way when the other's first text came may still be counted.
    expect(behind - (first ?? 0)).toBeLessThanOrEqual(2);
    await read;
    expect((await running).text).toBe(alone);
    expect(model.stats().preemptions).toBe(0);
  });
});
