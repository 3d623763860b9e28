import { describe, expect, it } from "vitest";
import { EngineError } from "../base/errors.ts";
import { newCallId } from "./generation.ts";
import { scriptedModel } from "../../test/harness/scripted-model.ts";

describe("a generation", () => {
  it("can be awaited and iterated, in any order and more than once", async () => {
    const { model } = await scriptedModel({ pieces: ["a", "b", "c"] });
    const generation = model.generate({ prompt: "x" });
    const result = await generation;
    expect(result).toMatchObject({
      text: "abc",
      finishReason: "stop",
      usage: { promptTokens: 1, completionTokens: 3 },
    });
    for (let round = 0; round < 2; round += 1) {
      const pieces: string[] = [];
      for await (const chunk of generation) pieces.push(chunk.text);
      expect(pieces).toEqual(["a", "b", "c"]);
    }
    expect(generation.done).toBe(true);
  });

  it("gives each of two readers all pieces", async () => {
    const { model } = await scriptedModel({ pieces: ["1", "2", "3", "4"], delayMs: 1 });
    const generation = model.generate({ prompt: "x" });
    const read = async (): Promise<string> => {
      let text = "";
      for await (const chunk of generation) text += chunk.text;
      return text;
    };
    expect(await Promise.all([read(), read()])).toEqual(["1234", "1234"]);
  });

  it("cancels the work when the loop is left, and then rejects when it is awaited", async () => {
    const { model, log } = await scriptedModel({
      pieces: Array.from({ length: 100 }, () => "x"),
      delayMs: 1,
    });
    const generation = model.generate({ prompt: "x" });
    for await (const chunk of generation) {
      expect(chunk.text).toBe("x");
      break;
    }
    expect(log.cancelled).toEqual([1]);
    await expect(Promise.resolve(generation)).rejects.toMatchObject({ name: "AbortError" });
  });

  it("rejects with the signal's reason, before and while it runs, and takes its listener away at the end", async () => {
    const { model, log } = await scriptedModel({ pieces: ["a", "b"], delayMs: 5 });
    const gone = new Error("gone");
    await expect(
      Promise.resolve(model.generate({ prompt: "x" }, { signal: AbortSignal.abort(gone) })),
    ).rejects.toBe(gone);
    expect(log.requests.length).toBe(0);

    const controller = new AbortController();
    const running = model.generate({ prompt: "x" }, { signal: controller.signal });
    for await (const chunk of running) {
      expect(chunk.text).toBe("a");
      controller.abort(gone);
      break;
    }
    await expect(Promise.resolve(running)).rejects.toBe(gone);
    expect(log.running.size).toBe(0);

    const finished = new AbortController();
    const result = await model.generate({ prompt: "x" }, { signal: finished.signal });
    finished.abort();
    expect(result.text).toBe("ab");
  });

  it("cancels a request that was aborted while its prompt was prepared", async () => {
    const { model, log } = await scriptedModel();
    const controller = new AbortController();
    const generation = model.generate(
      { messages: [{ role: "user", content: "hi" }] },
      { signal: controller.signal },
    );
    controller.abort(new Error("at once"));
    await expect(Promise.resolve(generation)).rejects.toThrow("at once");
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(log.running.size).toBe(0);
  });

  it("aborts a template that is still at work, however its text is given up", async () => {
    const { model, log } = await scriptedModel({ endlessTemplate: true });
    const request = { messages: [{ role: "user" as const, content: "hi" }] };
    const gone = Object.assign(new Error("gone"), { code: "overloaded" });
    const controller = new AbortController();
    const { signal } = controller;
    const cancelled = model.generate(request);
    const outcomes = Promise.allSettled([
      model.generate(request, { signal }),
      cancelled,
      model.promptTokens(request, { signal }),
    ]);
    expect(log.chats).toHaveLength(3);
    controller.abort(gone);
    cancelled.cancel(gone);
    for (const outcome of await outcomes) expect(outcome).toEqual({ status: "rejected", reason: gone });
    expect(log.abortedChats).toHaveLength(3);
    expect(log.requests).toHaveLength(0);
  });

  it("raises no unhandled rejection when nobody awaits a failed one", async () => {
    const unhandled: unknown[] = [];
    const listener = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", listener);
    const { model } = await scriptedModel({ failure: { code: "engine_failed", message: "broken" } });
    const generation = model.generate({ prompt: "x" });
    await expect(
      (async () => {
        for await (const chunk of generation) expect(chunk.tokens).toBe(1);
      })(),
    ).rejects.toMatchObject({ code: "engine_failed" });
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.off("unhandledRejection", listener);
    expect(unhandled).toEqual([]);
  });

  it("gives errors of the engine their code and numbers", async () => {
    const refusal = {
      code: "context_length_exceeded",
      message: "too long",
      details: { promptTokens: 9, contextLength: 4 },
    } as const;
    const { model } = await scriptedModel({ refusal });
    const error: unknown = await Promise.resolve(model.generate({ prompt: "x" })).catch(
      (thrown: unknown) => thrown,
    );
    expect(EngineError.is(error)).toBe(true);
    expect(error).toMatchObject(refusal);
  });
});

describe("the stop text that ended a reply", () => {
  it("is told when the caller gave it, and not when the model's template did", async () => {
    const { model } = await scriptedModel({ stop: "END" });
    expect((await model.generate({ prompt: "x", stop: ["never", "END"] })).stop).toBe("END");
    expect(await model.generate({ prompt: "x", stop: ["never"] })).not.toHaveProperty("stop");
  });
});

describe("what a generation is asked", () => {
  it("folds seeds of any size, and bans what is biased by -100", async () => {
    const { model, log } = await scriptedModel();
    await model.generate({ prompt: "x", seed: 2 ** 40 + 5, logitBias: { "7": -100, "8": 1.5 } });
    expect(log.requests[0]?.sampling.seed).toBe((5 ^ (2 ** 8)) >>> 0);
    expect([...(log.requests[0]?.sampling.logitBias ?? [])]).toEqual([7, -Infinity, 8, 1.5]);
  });

  it("takes a random seed for -1, and another one each time", async () => {
    const { model, log } = await scriptedModel();
    for (let i = 0; i < 4; i++) await model.generate({ prompt: "x", seed: -1 });
    expect(new Set(log.requests.map(({ sampling }) => sampling.seed)).size).toBe(4);
  });

  it("has the defaults of the library interface", async () => {
    const { model, log } = await scriptedModel();
    await model.generate({ prompt: "x" });
    expect(log.requests[0]).toMatchObject({
      maxTokens: -1,
      stops: [],
      ignoreEos: false,
      sampling: { temperature: 1, topK: 50, topP: 1, minP: 0, repeatPenalty: 1, repeatLastN: 64 },
    });
  });

  it("must have exactly one prompt and nothing out of range", async () => {
    const { model } = await scriptedModel();
    const wrong: [object, RegExp][] = [
      [{}, /prompt|input/i],
      [{ prompt: "x", messages: [{ role: "user", content: "x" }] }, /input|prompt|messages/i],
      [{ messages: [] }, /messages|input/i],
      [{ prompt: "x", topK: 1.5 }, /topK/],
      [{ prompt: "x", maxTokens: -2 }, /maxTokens/],
      [{ prompt: "x", stop: [""] }, /stop/],
    ];
    for (const [request, message] of wrong) {
      // @ts-expect-error -- the compiler refuses these too
      const call = (): unknown => model.generate(request);
      expect(call, JSON.stringify(request)).toThrow(message);
    }
  });
});

describe("newCallId", () => {
  it("returns different ids of nine letters and digits", () => {
    const ids = Array.from({ length: 2_000 }, newCallId);
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
