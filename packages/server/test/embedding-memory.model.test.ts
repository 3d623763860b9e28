// The memory of a generative model's context for embeddings, with a real engine in a process of its own: it stays within the
// server's budget, is counted, and is freed with the model.
import { fitModel, load, totalOf, type LoadOptions, type MemoryBudget } from "@ingle/engine";
import { tinyModel } from "@ingle/fixtures";
import { ModelRegistry, resolveConfig, serve } from "@ingle/server";
import { describe, expect, it } from "vitest";
import { user } from "./real-server.ts";

const options: LoadOptions = {
  engine: "process",
  threads: 1,
  contextLength: 1024,
  cells: 1024,
  parallel: 1,
  cacheRamMiB: 0,
};

async function serverWith(spareBytes: number) {
  const file = await tinyModel();
  const { footprint } = await fitModel(file, options, { budget: { byMemory: {} } });
  const { byMemory } = footprint;
  const totalBytes = totalOf(byMemory) + spareBytes;
  const budget: MemoryBudget = { byMemory: { host: totalBytes }, totalBytes };
  const config = resolveConfig({ flags: { port: 0 }, env: {} });
  const registry = new ModelRegistry({ ...config.models, waitingMax: 8, budget });
  registry.add({
    id: "tiny",
    prepare: async () => ({
      byMemory,
      load: async (onProgress, signal) => load(file, { ...options, onProgress, signal }),
    }),
  });
  const server = await serve(config, { logger: false, registry });
  const post = async (route: string, body: object) => {
    const response = await fetch(`${server.url}${route}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "tiny", ...body }),
    });
    const { error } = (await response.json()) as { error?: { code: string; message: string } };
    return { status: response.status, code: error?.code, message: error?.message };
  };
  return {
    registry,
    planned: totalOf(byMemory),
    embed: (tokens: number) =>
      post("/v1/embeddings", { input: Array.from({ length: tokens }, (_, at) => 5 + (at % 50)) }),
    chat: () => post("/v1/chat/completions", { messages: user("Hello"), max_tokens: 3 }),
    [Symbol.asyncDispose]: () => server.close({ deadlineMs: 0 }),
  };
}

describe("the context for embeddings of a generative model", () => {
  it("is refused where the budget does not leave its memory, and chats go on", async () => {
    await using server = await serverWith(1000);
    const refused = await server.embed(10);
    expect(refused).toMatchObject({ status: 503, code: "out_of_memory" });
    expect(refused.message).toMatch(
      /^Embeddings of texts of up to 512 tokens need \d+ MiB of the machine's memory, and the budget leaves 0 MiB\./,
    );
    expect(await server.chat()).toMatchObject({ status: 200 });
    expect(totalOf(server.registry.memoryUsed())).toBe(server.planned);
  });

  it("is counted once it is made, grows with longer texts up to the budget, and is freed with the model", async () => {
    await using large = await serverWith(1024 ** 3);
    expect(await large.embed(10)).toMatchObject({ status: 200 });
    const short = totalOf(large.registry.memoryUsed()) - large.planned;
    expect(short).toBeGreaterThan(0);
    expect(await large.embed(600)).toMatchObject({ status: 200 });
    const long = totalOf(large.registry.memoryUsed()) - large.planned;
    expect(long).toBeGreaterThan(short);
    await large.registry.unload("tiny");
    expect(large.registry.memoryUsed()).toEqual({});

    // Just enough for one of the two: the long one replaces nothing.
    await using small = await serverWith(long - 1);
    expect(await small.embed(10)).toMatchObject({ status: 200 });
    expect(await small.embed(600)).toMatchObject({ status: 503, code: "out_of_memory" });
    expect(await small.embed(10)).toMatchObject({ status: 200 });
    expect(totalOf(small.registry.memoryUsed()) - small.planned).toBe(short);
    // With all that is left, the context of short texts makes way for the one of long ones.
    await using enough = await serverWith(long);
    expect(await enough.embed(10)).toMatchObject({ status: 200 });
    expect(await enough.embed(600)).toMatchObject({ status: 200 });
  });
});
