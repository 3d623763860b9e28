import { EngineError, type LoadedModel } from "@ingle/engine";
import { scriptedModel } from "../../test/harness/scripted-model.ts";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { coolDownMs } from "./slot/loading.ts";
import { ModelRegistry } from "./registry.ts";
import type { Lease } from "./slot/slot-interface.ts";

const idleUnloadMs = 60_000;
const code = (expected: string) => expect.objectContaining({ code: expected });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A registry with a model, and what its loader was asked. */
async function makeRegistry(options: { waitingMax?: number } = {}) {
  const freed: number[] = [];
  let count = 0;
  const next: { load: () => Promise<LoadedModel> } = {
    load: async () => {
      const number = ++count;
      const { model } = await scriptedModel({ parallel: 2 });
      const free = async (): Promise<void> => {
        await model[Symbol.asyncDispose]();
        freed.push(number);
      };
      return { model, tokenizer: model.tokenizer, processor: model.processor, [Symbol.asyncDispose]: free };
    },
  };
  const registry = new ModelRegistry({ waitingMax: options.waitingMax ?? 1, idleUnloadMs });
  const loader = vi.fn(() => next.load());
  const load = next.load;
  await registry.load("a", loader);
  return { registry, loader, freed, next, load };
}

const readState = (registry: ModelRegistry) => registry.slots[0]?.state.kind;
const isReady = (registry: ModelRegistry) => registry.readiness().isReady;

const use = (registry: ModelRegistry, signal?: AbortSignal): Promise<Lease> =>
  registry.acquire("a", "desktop", { signal });

/** Lets the idle time pass and the unloading end. */
async function idle({ registry }: { registry: ModelRegistry }, ms: number = idleUnloadMs): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  while (readState(registry) === "unloading") await new Promise(setImmediate);
}

describe("an idle model", () => {
  it("is freed after its time, stays in the list, and the server stays ready", async () => {
    const { registry, freed } = await makeRegistry();
    await idle({ registry }, idleUnloadMs - 1);
    expect(readState(registry)).toBe("loaded");
    await idle({ registry }, 1);
    expect(registry.slots[0]?.state).toEqual({ kind: "available" });
    expect(freed).toEqual([1]);
    expect(isReady(registry)).toBe(true);
    expect(registry.list()).toMatchObject([{ id: "a", status: "available", context_length: 2048 }]);
    expect(registry.describe("a").status).toBe("available");
  });

  it("is not idle while a request holds it, nor while requests keep coming", async () => {
    const { registry } = await makeRegistry();
    const lease = await use(registry);
    await idle({ registry }, 10 * idleUnloadMs);
    expect(readState(registry)).toBe("loaded");
    lease[Symbol.dispose]();
    for (let round = 0; round < 3; round += 1) {
      await idle({ registry }, idleUnloadMs - 1);
      (await use(registry))[Symbol.dispose]();
    }
    expect(readState(registry)).toBe("loaded");
    await idle({ registry });
    expect(readState(registry)).toBe("available");
  });

  it("is loaded again once for all who ask, and they wait for it", async () => {
    const { registry, loader, next, load } = await makeRegistry();
    await idle({ registry });
    let release: () => void = () => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    next.load = async () => {
      await gate;
      return load();
    };
    const waiting = [use(registry), use(registry), use(registry)];
    await expect.poll(() => readState(registry)).toBe("loading");
    expect(registry.stats().waiting).toBe(3);
    expect(isReady(registry)).toBe(true);
    await expect(use(registry)).rejects.toEqual(code("overloaded")); // 2 run at once and 1 may wait
    release();
    const leases = await Promise.all(waiting);
    expect(loader).toHaveBeenCalledTimes(2);
    expect(new Set(leases.map(({ model }) => model)).size).toBe(1);
    expect(registry.stats().waiting).toBe(0);
    for (const lease of leases) lease[Symbol.dispose]();
    await idle({ registry });
    expect(readState(registry)).toBe("available");
  });

  it("that is asked for while it is being freed is loaded again afterwards", async () => {
    const { registry, freed } = await makeRegistry();
    vi.advanceTimersByTime(idleUnloadMs);
    expect(readState(registry)).toBe("unloading");
    using lease = await use(registry);
    expect(freed).toEqual([1]);
    expect(lease.model.disposed).toBe(false);
  });

  it("is freed again when those who waited for it have left", async () => {
    const { registry, next, load } = await makeRegistry();
    await idle({ registry });
    let release: () => void = () => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    next.load = async () => {
      await gate;
      return load();
    };
    const leaving = new AbortController();
    const waiting = use(registry, leaving.signal);
    await expect.poll(() => readState(registry)).toBe("loading");
    leaving.abort(new Error("left"));
    await expect(waiting).rejects.toThrow("left");
    release();
    await expect.poll(() => readState(registry)).toBe("loaded");
    await idle({ registry });
    expect(readState(registry)).toBe("available");
  });

  it("that cannot be loaded again says why, and a request that comes later tries once more", async () => {
    const { registry, next, load } = await makeRegistry();
    await idle({ registry });
    next.load = () => Promise.reject(new EngineError("out_of_memory", "There is no room."));
    await expect(use(registry)).rejects.toEqual(code("out_of_memory"));
    expect([isReady(registry), registry.list()]).toEqual([false, []]);
    next.load = load;
    await vi.advanceTimersByTimeAsync(coolDownMs);
    using lease = await use(registry);
    expect(lease.id).toBe("a");
    expect(isReady(registry)).toBe(true);
  });

  it("keeps what it has counted", async () => {
    const { registry } = await makeRegistry();
    {
      using lease = await use(registry);
      await lease.model.generate({ prompt: "abc" });
    }
    const { generatedTokens, promptTokens } = registry.stats();
    expect([generatedTokens, promptTokens]).toEqual([4, 3]);
    await idle({ registry });
    expect(registry.stats()).toMatchObject({ generatedTokens, promptTokens, cells: 0 });
    using lease = await use(registry);
    await lease.model.generate({ prompt: "abc" });
    expect(registry.stats()).toMatchObject({ generatedTokens: 8, promptTokens: 6, cells: 2048 });
  });
});

describe("disposal", () => {
  it("of an unloaded model has nothing to free, and leaves no timer", async () => {
    const { registry, freed } = await makeRegistry();
    await idle({ registry });
    await registry[Symbol.asyncDispose]();
    expect(freed).toEqual([1]);
    expect(vi.getTimerCount()).toBe(0);
    await expect(use(registry)).rejects.toEqual(code("shutting_down"));
  });

  it("ends the wait of those who want an idle model", async () => {
    const { registry, next } = await makeRegistry();
    await idle({ registry });
    next.load = () => new Promise(() => {});
    const waiting = expect(use(registry)).rejects.toEqual(code("shutting_down"));
    await expect.poll(() => readState(registry)).toBe("loading");
    void registry[Symbol.asyncDispose](); // the load never ends, and so does this
    await waiting;
  });

  it("in the middle of unloading waits for it", async () => {
    const { registry, freed } = await makeRegistry();
    vi.advanceTimersByTime(idleUnloadMs);
    await registry[Symbol.asyncDispose]();
    expect([freed, readState(registry)]).toEqual([[1], "closed"]);
  });
});
