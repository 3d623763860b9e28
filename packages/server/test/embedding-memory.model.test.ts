// The memory of a generative model's context for embeddings, with real engines in processes of their own: it stays within the
// server's budget, for which other models are evicted, is counted, and is freed with the model.
import { fitModel, load, sumBytes, type LoadOptions, type MemoryBudget } from "@ingle/engine";
import { tinyModel, until } from "@ingle/fixtures";
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

/** A server for models with the same file, with memory for all of them and this much more. */
async function startServer(spareBytes: number, { models = ["tiny"], pinned = [] as string[] } = {}) {
  const file = await tinyModel();
  const { footprint } = await fitModel(file, options, { budget: { byMemory: {} } });
  const { byMemory } = footprint;
  const planned = sumBytes(byMemory);
  const totalBytes = models.length * planned + spareBytes;
  const budget: MemoryBudget = { byMemory: { host: totalBytes }, totalBytes };
  const config = resolveConfig({ flags: { port: 0 }, env: {} });
  const registry = new ModelRegistry({ ...config.models, waitingMax: 8, budget, pinned });
  for (const id of models)
    registry.add({
      id,
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
    planned,
    embed: (tokens: number, model = "tiny") =>
      post("/v1/embeddings", { model, input: Array.from({ length: tokens }, (_, at) => 5 + (at % 50)) }),
    chat: (model = "tiny", tokens = 3) =>
      post("/v1/chat/completions", { model, messages: user("Hello"), max_tokens: tokens, ignore_eos: true }),
    state: (id: string) => registry.slots.find((slot) => slot.id === id)?.state.kind,
    [Symbol.asyncDispose]: () => server.close({ deadlineMs: 0 }),
  };
}

/** The memory of the context for short texts. */
async function contextBytes(): Promise<number> {
  await using server = await startServer(1024 ** 3);
  expect(await server.embed(10)).toMatchObject({ status: 200 });
  return sumBytes(server.registry.memoryUsed()) - server.planned;
}

describe("the context for embeddings of a generative model", () => {
  it("is refused where the budget does not leave its memory, and chats go on", async () => {
    await using server = await startServer(1000);
    const refused = await server.embed(10);
    expect(refused).toMatchObject({ status: 503, code: "out_of_memory" });
    expect(refused.message).toMatch(
      /^Embeddings of texts of up to 512 tokens need \d+ MiB of the machine's memory, and the budget leaves 0 MiB\./,
    );
    expect(await server.chat()).toMatchObject({ status: 200 });
    expect(sumBytes(server.registry.memoryUsed())).toBe(server.planned);
  });

  it("is counted once it is made, grows with longer texts up to the budget, and is freed with the model", async () => {
    await using large = await startServer(1024 ** 3);
    expect(await large.embed(10)).toMatchObject({ status: 200 });
    const short = sumBytes(large.registry.memoryUsed()) - large.planned;
    expect(short).toBeGreaterThan(0);
    expect(await large.embed(600)).toMatchObject({ status: 200 });
    const long = sumBytes(large.registry.memoryUsed()) - large.planned;
    expect(long).toBeGreaterThan(short);
    await large.registry.unload("tiny");
    expect(large.registry.memoryUsed()).toEqual({});

    // Just enough for one of the two: the long one replaces nothing.
    await using small = await startServer(long - 1);
    expect(await small.embed(10)).toMatchObject({ status: 200 });
    expect(await small.embed(600)).toMatchObject({ status: 503, code: "out_of_memory" });
    expect(await small.embed(10)).toMatchObject({ status: 200 });
    expect(sumBytes(small.registry.memoryUsed()) - small.planned).toBe(short);
    // With all that is left, the context of short texts makes way for the one of long ones.
    await using enough = await startServer(long);
    expect(await enough.embed(10)).toMatchObject({ status: 200 });
    expect(await enough.embed(600)).toMatchObject({ status: 200 });
  });
});

describe("the context for embeddings beside other models", () => {
  const models = ["tiny", "other"];

  it("gets the memory of an idle model, which is loaded again when it is needed", async () => {
    const needed = await contextBytes();
    await using server = await startServer(needed - 1, { models });
    for (const model of ["tiny", "other"]) expect(await server.chat(model)).toMatchObject({ status: 200 });
    expect(await server.embed(10)).toMatchObject({ status: 200 });
    expect(server.state("other")).toBe("available");
    expect(sumBytes(server.registry.memoryUsed())).toBe(server.planned + needed);
    expect(await server.chat("other")).toMatchObject({ status: 200 });
    expect(server.state("tiny")).toBe("available");
  });

  it("waits for the replies of a busy model", async () => {
    await using server = await startServer((await contextBytes()) - 1, { models });
    expect(await server.chat("tiny")).toMatchObject({ status: 200 });
    const chat = server.chat("other", 200);
    await until(() => server.registry.slots.some(({ leases }) => leases === 1));
    expect(await server.embed(10)).toMatchObject({ status: 200 });
    expect(await chat).toMatchObject({ status: 200 });
    expect(server.state("other")).toBe("available");
  });

  it("is refused, with the engine's reason, if the others are pinned", async () => {
    await using server = await startServer((await contextBytes()) - 1, { models, pinned: ["other"] });
    for (const model of models) expect(await server.chat(model)).toMatchObject({ status: 200 });
    const refused = await server.embed(10);
    expect(refused).toMatchObject({ status: 503, code: "out_of_memory" });
    expect(refused.message).toMatch(/^Embeddings of texts of up to 512 tokens need /);
    expect(server.state("other")).toBe("loaded");
    expect(await server.chat()).toMatchObject({ status: 200 });
  });

  it("is made for each of two models in turn, if both need it at the same time", async () => {
    const needed = await contextBytes();
    await using server = await startServer(needed - 1, { models });
    for (const model of models) expect(await server.chat(model)).toMatchObject({ status: 200 });
    const both = await Promise.all(models.map((model) => server.embed(10, model)));
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect(sumBytes(server.registry.memoryUsed())).toBe(server.planned + needed);
  });
});
