// Two real models on one server with memory for one: no request is lost while they are swapped, and memory is freed.
import { fitModel, load, type LoadOptions } from "@ingle/engine";
import { exactArithmetic, tinyModel, until } from "@ingle/fixtures";
import { ModelRegistry, resolveConfig, serve, type KnownModel } from "@ingle/server";
import { describe, expect, it } from "vitest";
import { user } from "./real-server.ts";

const budget = { byMemory: { host: 16 * 1024 ** 3 } };
// Texts that do not depend on the rest of the batch.
const options: LoadOptions = {
  threads: 1,
  ...exactArithmetic,
  contextLength: 256,
  parallel: 4,
  cacheRamMiB: 0,
};

async function tiny(
  id: string,
  seed: number,
): Promise<KnownModel & { counts: { loads: number; alive: number } }> {
  const file = await tinyModel({ weights: "f32", seed });
  const counts = { loads: 0, alive: 0 };
  return {
    id,
    counts,
    prepare: async ({ signal }) => {
      const fitted = await fitModel(file, options, { budget, signal });
      return {
        byMemory: fitted.footprint.byMemory,
        load: async (onProgress, loadSignal) => {
          counts.loads += 1;
          const loaded = await load(file, { ...fitted.options, onProgress, signal: loadSignal });
          counts.alive += 1;
          const free = async (): Promise<void> => {
            await loaded[Symbol.asyncDispose]();
            counts.alive -= 1;
          };
          return { ...loaded, [Symbol.asyncDispose]: free };
        },
      };
    },
  };
}

async function openServer(loadedMax: number) {
  const models = [await tiny("one", 1), await tiny("two", 2)];
  const config = resolveConfig({ flags: { port: 0, maxLoaded: loadedMax }, env: {} });
  const registry = new ModelRegistry({ ...config.models, waitingMax: 256, budget });
  for (const model of models) registry.add(model);
  const server = await serve(config, { logger: false, registry });
  const ask = async (model: string, body: object = {}): Promise<{ status: number; text: string }> => {
    const reply = await fetch(`${server.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model, messages: user("Tell me."), temperature: 0, max_tokens: 8, ...body }),
    });
    return { status: reply.status, text: await reply.text() };
  };
  return { models, registry, ask, [Symbol.asyncDispose]: () => server.close({ deadlineMs: 0 }) };
}

const readContent = (text: string): unknown =>
  (JSON.parse(text) as { choices: [{ message: { content: string } }] }).choices[0].message.content;

describe("several models on one server", () => {
  it("load a model once for 200 simultaneous requests", async () => {
    await using server = await openServer(2);
    const replies = await Promise.all(
      Array.from({ length: 200 }, () => server.ask("one", { max_tokens: 2 })),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(server.models.map(({ counts }) => counts.loads)).toEqual([1, 0]);
  });

  it("are swapped under load, and every request gets its own model's reply", async () => {
    await using server = await openServer(1);
    const alone = {
      one: readContent((await server.ask("one")).text),
      two: readContent((await server.ask("two")).text),
    };
    expect(alone.one).not.toBe(alone.two);
    const requests = Array.from({ length: 60 }, (_, index) => (index % 3 === 0 ? "two" : "one"));
    const replies = await Promise.all(
      requests.map(async (model, index) => {
        await new Promise((resolve) => setTimeout(resolve, index * 5));
        return { model, ...(await server.ask(model)) };
      }),
    );
    for (const { model, status, text } of replies) {
      expect(status).toBe(200);
      expect(readContent(text)).toBe(alone[model as "one" | "two"]);
    }
    expect(server.models.reduce((sum, { counts }) => sum + counts.alive, 0)).toBe(1);
  });

  it("let a stream finish before its model is evicted", async () => {
    await using server = await openServer(1);
    const streaming = server.ask("one", { stream: true, max_tokens: 60 });
    await until(() => server.registry.stats().running > 0);
    const other = await server.ask("two");
    expect(other.status).toBe(200);
    expect((await streaming).text).toMatch(/data: \[DONE\]\n\n$/);
  });

  it("free their memory", async () => {
    await using server = await openServer(1);
    const swap = async (times: number): Promise<number> => {
      for (let time = 0; time < times; time += 1) await server.ask(time % 2 === 0 ? "one" : "two");
      return process.memoryUsage().rss;
    };
    await swap(6);
    const before = await swap(2);
    expect((await swap(20)) - before).toBeLessThan(64 * 1024 ** 2);
    await server.registry.unload("one");
    await server.registry.unload("two");
    expect(server.registry.memoryUsed()).toEqual({});
  }, 120_000); // 28 loads
});
