import { describe, expect, it } from "vitest";
import { gate, scriptedKnown, type ScriptedKnown } from "../../test/harness/scripted-models.ts";
import { ModelRegistry, type RegistryOptions } from "./registry.ts";
import type { Lease } from "./slot/slot-interface.ts";

const code = (expected: string) => expect.objectContaining({ code: expected });
const settle = () => new Promise(setImmediate);
const budget = { byMemory: { host: 10 } };

function makeRegistry(
  models: readonly ScriptedKnown[],
  options: Partial<RegistryOptions> = {},
): ModelRegistry {
  const registry = new ModelRegistry({ waitingMax: 99, onLoading: "wait", budget, ...options });
  for (const model of models) registry.add(model);
  return registry;
}

const listStates = (registry: ModelRegistry) =>
  Object.fromEntries(registry.slots.map(({ id, state }) => [id, state.kind]));
const use = (registry: ModelRegistry, id: string, signal?: AbortSignal): Promise<Lease> =>
  registry.acquire(id, "desktop", { signal });

/** Uses a model and lets go of it. */
async function touch(registry: ModelRegistry, ...ids: string[]): Promise<void> {
  for (const id of ids) (await use(registry, id))[Symbol.dispose]();
}

describe("several models", () => {
  it("stay in memory beside each other while there is room", async () => {
    const registry = makeRegistry([
      scriptedKnown("a", { hostBytes: 4 }),
      scriptedKnown("b", { hostBytes: 6 }),
    ]);
    await touch(registry, "a", "b");
    expect(listStates(registry)).toEqual({ a: "loaded", b: "loaded" });
    expect(registry.memoryUsed()).toEqual({ host: 10 });
  });

  it("make room for one more: the least recently used first", async () => {
    const models = ["a", "b", "c"].map((id) => scriptedKnown(id, { hostBytes: 5 }));
    const registry = makeRegistry(models);
    await touch(registry, "a", "b", "a", "c");
    expect(listStates(registry)).toEqual({ a: "loaded", b: "available", c: "loaded" });
    expect(models.map(({ log }) => log.frees)).toEqual([0, 1, 0]);
  });

  it("are told what the others leave of the budget, unless one of them is evicted anyway", async () => {
    const models = ["a", "b", "c"].map((id) => scriptedKnown(id, { hostBytes: 3 }));
    const lefts: unknown[] = [];
    const watched = models.map((known): ScriptedKnown => ({
      ...known,
      prepare: async (request) => {
        lefts.push(request.left?.byMemory);
        return await known.prepare(request);
      },
    }));
    const registry = makeRegistry(watched, { loadedMax: 2 });
    await touch(registry, "a", "b", "c");
    expect(lefts).toEqual([undefined, { host: 7 }, undefined]);
  });

  it("are no more than --max-loaded, whatever the memory", async () => {
    const registry = makeRegistry([scriptedKnown("a"), scriptedKnown("b")], { loadedMax: 1 });
    await touch(registry, "a", "b");
    expect(listStates(registry)).toEqual({ a: "available", b: "loaded" });
  });

  it("count together in the figures, and keep what they have counted", async () => {
    const registry = makeRegistry([scriptedKnown("a"), scriptedKnown("b")], { loadedMax: 1 });
    for (const id of ["a", "b"]) {
      using lease = await use(registry, id);
      await lease.model.generate({ prompt: "abc" });
    }
    expect(registry.stats()).toMatchObject({ generatedTokens: 8, promptTokens: 6, cells: 2048 });
  });
});

describe("a model that somebody uses", () => {
  it("is not freed for another one, which waits until the last lease is back", async () => {
    const [a, b] = [scriptedKnown("a", { hostBytes: 6 }), scriptedKnown("b", { hostBytes: 6 })];
    const registry = makeRegistry([a, b]);
    const leases = [await use(registry, "a"), await use(registry, "a")];
    const waiting = use(registry, "b");
    await settle();
    expect(listStates(registry)).toEqual({ a: "draining", b: "preparing" });
    leases[0]?.[Symbol.dispose]();
    await settle();
    expect([a.log.frees, b.log.loads]).toEqual([0, 0]);
    leases[1]?.[Symbol.dispose]();
    using lease = await waiting;
    expect(lease.id).toBe("b");
    expect(a.log.frees).toBe(1);
  });

  it("takes no new requests while another one waits for its place: those wait for their turn", async () => {
    const registry = makeRegistry([scriptedKnown("a"), scriptedKnown("b")], { loadedMax: 1 });
    const first = await use(registry, "a");
    const other = use(registry, "b");
    await settle();
    const second = use(registry, "a");
    first[Symbol.dispose]();
    (await other)[Symbol.dispose]();
    using lease = await second;
    expect(lease.id).toBe("a");
    expect(lease.model.disposed).toBe(false);
  });

  it("goes on when the one that waited for its place has left", async () => {
    const [a, b] = [scriptedKnown("a"), scriptedKnown("b")];
    const registry = makeRegistry([a, b], { loadedMax: 1 });
    using first = await use(registry, "a");
    const leaving = new AbortController();
    const waiting = use(registry, "b", leaving.signal);
    await settle();
    const second = use(registry, "a");
    leaving.abort(new Error("left"));
    await expect(waiting).rejects.toThrow("left");
    using lease = await second;
    expect(lease.model).toBe(first.model);
    expect(listStates(registry)).toEqual({ a: "loaded", b: "available" });
    expect(b.log.loads).toBe(0);
  });
});

describe("a pinned model", () => {
  it("is not freed for others, which are refused when there is no room beside it", async () => {
    const models = ["a", "b", "c"].map((id) => scriptedKnown(id, { hostBytes: 5 }));
    const registry = makeRegistry(models, { pinned: ["a"] });
    await touch(registry, "a", "b", "c");
    expect(listStates(registry)).toEqual({ a: "loaded", b: "available", c: "loaded" });
    registry.add(scriptedKnown("large", { hostBytes: 6 }));
    await expect(use(registry, "large")).rejects.toEqual(code("out_of_memory"));
    expect(listStates(registry)).toMatchObject({ a: "loaded", c: "loaded" });
  });

  it("is freed by a request all the same", async () => {
    const registry = makeRegistry([scriptedKnown("a")], { pinned: ["a"] });
    await registry.load("a");
    await registry.unload("a");
    expect(listStates(registry)).toEqual({ a: "available" });
  });
});

describe("a request to unload", () => {
  it("waits for those who use the model, and requests that come meanwhile load it again", async () => {
    const a = scriptedKnown("a");
    const registry = makeRegistry([a]);
    const first = await use(registry, "a");
    const unloading = registry.unload("a");
    await settle();
    const second = use(registry, "a");
    expect(a.log.frees).toBe(0);
    first[Symbol.dispose]();
    await unloading;
    using lease = await second;
    expect(lease.model).not.toBe(first.model);
    expect(a.log).toEqual({ prepared: 2, loads: 2, frees: 1 });
  });

  it("has nothing to do where the model is not in memory", async () => {
    const registry = makeRegistry([scriptedKnown("a")]);
    await registry.unload("a");
    await expect(registry.unload("b")).rejects.toEqual(code("model_not_found"));
  });

  it("is taken back by whoever gave it", async () => {
    const registry = makeRegistry([scriptedKnown("a")]);
    using first = await use(registry, "a");
    const leaving = new AbortController();
    const unloading = registry.unload("a", { signal: leaving.signal });
    await settle();
    expect(listStates(registry)).toEqual({ a: "draining" });
    leaving.abort(new Error("left"));
    await expect(unloading).rejects.toThrow("left");
    using second = await use(registry, "a");
    expect(second.model).toBe(first.model);
  });

  it("of a model that is being loaded waits until it can", async () => {
    const a = scriptedKnown("a");
    const finish = gate();
    a.gate = finish.closed;
    const registry = makeRegistry([a]);
    const loading = registry.load("a");
    await settle();
    const unloading = registry.unload("a");
    finish.open();
    await Promise.all([loading, unloading]);
    expect(a.log).toEqual({ prepared: 1, loads: 1, frees: 1 });
  });
});
