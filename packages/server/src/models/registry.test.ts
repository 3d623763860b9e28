import { EngineError } from "@ingle/engine";
import { afterEach, describe, expect, it, vi } from "vitest";
import { gate, scriptedKnown, type ScriptedKnown } from "../../test/harness/scripted-models.ts";
import { coolDownMs } from "./slot/loading.ts";
import { ModelRegistry, type RegistryOptions } from "./registry.ts";
import { refreshMinMs } from "./catalog/model-catalog.ts";

const code = (expected: string) => expect.objectContaining({ code: expected });

/** A registry that knows these models. */
function makeRegistry(
  models: readonly ScriptedKnown[],
  options: Partial<RegistryOptions> = {},
): ModelRegistry {
  const registry = new ModelRegistry({ waitingMax: 1, now: () => new Date(5_000), ...options });
  for (const model of models) registry.add(model);
  return registry;
}

const readState = (registry: ModelRegistry, id = "a") =>
  registry.slots.find((slot) => slot.id === id)?.state.kind;

/** Lets everything happen that waits for nothing but promises. */
const settle = () => new Promise(setImmediate);

afterEach(() => {
  vi.useRealTimers();
});

describe("loading", () => {
  it("goes from available through loading with its progress to loaded", async () => {
    const a = scriptedKnown("a");
    const finish = gate();
    a.gate = finish.closed;
    const registry = makeRegistry([a]);
    expect(readState(registry)).toBe("available");
    const loading = registry.load("a");
    await settle();
    a.report(0.25);
    expect(registry.slots[0]?.state).toEqual({ kind: "loading", progress: 0.25 });
    finish.open();
    await loading;
    a.report(0.5); // a report that comes after the end changes nothing
    expect(registry.slots[0]?.state).toEqual({ kind: "loaded", loadedAt: new Date(5_000) });
  });

  it("happens once for two hundred requests that come together, which all get the same model", async () => {
    const a = scriptedKnown("a");
    const registry = makeRegistry([a], { waitingMax: 256, onLoading: "wait" });
    const leases = await Promise.all(Array.from({ length: 200 }, () => registry.acquire("a", "desktop")));
    expect(a.log).toEqual({ prepared: 1, loads: 1, frees: 0 });
    expect(new Set(leases.map(({ model }) => model)).size).toBe(1);
  });

  it("is told to who watches: before anybody uses the model, and before it is freed", async () => {
    const a = scriptedKnown("a");
    const registry = makeRegistry([a]);
    const told: string[] = [];
    registry.watch({
      loaded: (id) => told.push(`${id} loaded, ${registry.slots[0]?.leases} leases`),
      freed: (id) => told.push(`${id} goes, ${a.log.frees} freed`),
    });
    await registry.load("a");
    await registry.unload("a");
    await registry.load("a");
    await registry[Symbol.asyncDispose]();
    const life = ["a loaded, 0 leases", "a goes, 0 freed"];
    expect(told).toEqual([...life, "a loaded, 0 leases", "a goes, 1 freed"]);
  });

  it("is one load for management requests and inference alike", async () => {
    const a = scriptedKnown("a");
    const registry = makeRegistry([a], { onLoading: "wait" });
    const [first, lease, second] = await Promise.all([
      registry.load("a"),
      registry.acquire("a", "desktop"),
      registry.load("a"),
    ]);
    expect(await registry.load("a")).toBe(first);
    expect([second, lease.model]).toEqual([first, first]);
    expect(a.log.loads).toBe(1);
  });

  it("takes a loader for a model that nobody knew, under its alias too", async () => {
    const registry = makeRegistry([]);
    const { load } = await scriptedKnown("x").prepare({ signal: new AbortController().signal });
    await registry.load("new", load, { alias: "./new.gguf" });
    expect((await registry.acquire("./new.gguf", "desktop")).id).toBe("new");
  });

  it("of an unknown model is model_not_found", async () => {
    await expect(makeRegistry([]).load("a")).rejects.toEqual(code("model_not_found"));
  });
});

describe("a load that fails", () => {
  const broken = new EngineError("model_invalid", "The file is no GGUF.");

  it("is what all who waited are told, and all who come until it has cooled down", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const a = scriptedKnown("a");
    const registry = makeRegistry([a], { waitingMax: 9, onLoading: "wait" });
    a.refusal = broken;
    const waiting = [registry.acquire("a", "desktop"), registry.acquire("a", "desktop")];
    const told = expect.objectContaining({ code: "engine_failed", details: { retryAfterSeconds: 10 } });
    for (const each of waiting) await expect(each).rejects.toEqual(told);
    await expect(registry.acquire("a", "desktop")).rejects.toEqual(told);
    expect(registry.list()).toEqual([]);
    await vi.advanceTimersByTimeAsync(coolDownMs - 1);
    await expect(registry.acquire("a", "desktop")).rejects.toEqual(code("engine_failed"));
    expect(a.log.prepared).toBe(1);
    a.refusal = undefined;
    await vi.advanceTimersByTimeAsync(1);
    using lease = await registry.acquire("a", "desktop");
    expect(lease.id).toBe("a");
  });

  it("throws its own error to whoever ordered it, and a request need not wait for the cool-down", async () => {
    const a = scriptedKnown("a");
    const registry = makeRegistry([a]);
    a.refusal = broken;
    await expect(registry.load("a")).rejects.toBe(broken);
    expect(readState(registry)).toBe("failed");
    a.refusal = undefined;
    await registry.load("a");
    expect(readState(registry)).toBe("loaded");
  });

  it("for lack of memory says so to the requests", async () => {
    const a = scriptedKnown("a");
    a.refusal = new EngineError("out_of_memory", "It needs 9 GiB, and 4 GiB may be used.");
    const registry = makeRegistry([a], { onLoading: "wait" });
    const refused = expect(registry.acquire("a", "desktop")).rejects;
    await refused.toThrow(/9 GiB/);
    await expect(registry.acquire("a", "desktop")).rejects.toEqual(code("out_of_memory"));
  });

  it("of one model leaves the others as they are", async () => {
    const [a, b] = [scriptedKnown("a"), scriptedKnown("b")];
    const registry = makeRegistry([a, b], { onLoading: "wait" });
    b.refusal = broken;
    await registry.load("a");
    await expect(registry.load("b")).rejects.toBe(broken);
    expect(registry.readiness()).toEqual({ status: "ok", isReady: true, model: "a" });
    expect(registry.list().map(({ id }) => id)).toEqual(["a"]);
  });
});

describe("which id is accepted", () => {
  it.each(["desktop", "command-line", "serverless"] as const)(
    "%s: only those that are known",
    async (variant) => {
      const registry = makeRegistry([scriptedKnown("a")]);
      await expect(makeRegistry([]).acquire("a", variant)).rejects.toEqual(code("model_not_found"));
      await registry.load("a");
      expect((await registry.acquire("a", variant)).id).toBe("a");
      await expect(registry.acquire("A", variant)).rejects.toEqual(code("model_not_found"));
    },
  );

  it("developer: any string is the model that was used last, but an id is that model", async () => {
    const registry = makeRegistry([scriptedKnown("a"), scriptedKnown("b")], { waitingMax: 9 });
    await registry.load("a");
    expect((await registry.acquire("whatever", "developer")).id).toBe("a");
    expect((await registry.acquire("", "developer")).id).toBe("a");
    expect((await registry.acquire(undefined, "desktop")).id).toBe("a");
    expect((await registry.acquire("b", "developer")).id).toBe("b");
    expect((await registry.acquire("whatever", "developer")).id).toBe("b");
  });

  it("is looked up in the source once more before it is refused, but not more often than that pays", async () => {
    const installed = [scriptedKnown("a")];
    const clock = { ms: 0 };
    const known = vi.fn(async () => installed);
    const registry = makeRegistry([], {
      onLoading: "wait",
      source: { known },
      now: () => new Date(clock.ms),
    });
    await expect(registry.acquire("b", "desktop")).rejects.toEqual(code("model_not_found"));
    installed.push(scriptedKnown("b", { aliases: ["bee"] }));
    await expect(registry.acquire("b", "desktop")).rejects.toEqual(code("model_not_found"));
    expect(known).toHaveBeenCalledTimes(1);
    clock.ms += refreshMinMs;
    expect((await registry.acquire("bee", "desktop")).id).toBe("b");
    installed.length = 0;
    await registry.refresh({ isNeeded: true });
    expect(registry.list().map(({ id }) => id)).toEqual(["b"]); // it is in memory, whatever became of the file
  });

  it("stays as it was when the source cannot be asked, and whoever wants to know is told", async () => {
    const broken = new Error("the manifest is damaged");
    const onSourceFailure = vi.fn();
    const source = { known: () => Promise.reject(broken) };
    const registry = makeRegistry([scriptedKnown("a")], { onLoading: "wait", source, onSourceFailure });
    await registry.refresh();
    expect(registry.list().map(({ id }) => id)).toEqual(["a"]);
    expect(onSourceFailure).toHaveBeenCalledWith(broken);
  });
});

describe("while a model loads", () => {
  it("requests are told to come back in 1 to 5 seconds until a first one was loaded", async () => {
    const [a, b] = [scriptedKnown("a"), scriptedKnown("b")];
    const registry = makeRegistry([a, b], { waitingMax: 9 });
    const finish = gate();
    a.gate = finish.closed;
    const loading = registry.load("a");
    await settle();
    const later = expect.objectContaining({
      code: "model_loading",
      details: { progress: 0, retryAfterSeconds: 5 },
    });
    await expect(registry.acquire("a", "desktop")).rejects.toEqual(later);
    expect(() => registry.describe("a")).toThrow(later);
    expect(registry.list()).toEqual([]);
    finish.open();
    await loading;
    expect((await registry.acquire("b", "desktop")).id).toBe("b");
  });

  it("requests wait where that is the rule, and the model is listed", async () => {
    const a = scriptedKnown("a");
    const registry = makeRegistry([a], { onLoading: "wait" });
    const finish = gate();
    a.gate = finish.closed;
    const waiting = registry.acquire("a", "desktop");
    await settle();
    expect(registry.list()).toMatchObject([{ id: "a", status: "loading" }]);
    expect(registry.stats().waiting).toBe(1);
    finish.open();
    expect((await waiting).id).toBe("a");
  });

  it("requests are refused where that is the rule, and the first of them begins the load", async () => {
    const [a, b] = [scriptedKnown("a"), scriptedKnown("b")];
    const registry = makeRegistry([a, b], { onLoading: "reject" });
    await registry.load("a");
    await expect(registry.acquire("b", "desktop")).rejects.toEqual(code("model_loading"));
    await expect.poll(() => readState(registry, "b")).toBe("loaded");
    expect((await registry.acquire("b", "desktop")).id).toBe("b");
  });

  it("one who leaves is gone at once, and a load that has begun goes on", async () => {
    const a = scriptedKnown("a");
    const registry = makeRegistry([a], { onLoading: "wait" });
    const finish = gate();
    a.gate = finish.closed;
    const leaving = new AbortController();
    const waiting = registry.acquire("a", "desktop", { signal: leaving.signal });
    await settle();
    leaving.abort(new Error("left"));
    await expect(waiting).rejects.toThrow("left");
    expect(registry.stats().waiting).toBe(0);
    finish.open();
    await expect.poll(() => readState(registry)).toBe("loaded");
  });
});

describe("the list", () => {
  it("has the fields of a model entry, before it is loaded and afterwards", async () => {
    const registry = makeRegistry([scriptedKnown("a")], { onLoading: "wait" });
    expect(registry.list()).toMatchObject([{ id: "a", context_length: null, status: "available" }]);
    await registry.load("a");
    expect(registry.list()).toEqual([
      {
        id: "a",
        object: "model",
        created: 5,
        owned_by: "local",
        context_length: 2048,
        max_model_len: 2048,
        context_length_train: null,
        input_modalities: ["text"],
        capabilities: ["tools"],
        quantization: "F16",
        size_bytes: 2000,
        n_params: 1000,
        status: "loaded",
      },
    ]);
    expect(registry.describe("a")).toEqual(registry.list()[0]);
    expect(() => registry.describe("b")).toThrow(code("model_not_found"));
  });

  it("says of a model that it reads images before it is loaded", () => {
    const known = [{ ...scriptedKnown("a"), about: { readsImages: true } }, scriptedKnown("b")];
    const registry = makeRegistry(known, { onLoading: "wait" });
    const read = registry.list().map(({ input_modalities }) => input_modalities);
    expect(read).toEqual([["text", "image"], ["text"]]);
  });
});

describe("disposal", () => {
  it("waits for the last lease of every model, takes no new one and frees each once", async () => {
    const [a, b] = [scriptedKnown("a"), scriptedKnown("b")];
    const registry = makeRegistry([a, b]);
    await Promise.all([registry.load("a"), registry.load("b")]);
    const lease = await registry.acquire("a", "desktop");
    const disposal = registry[Symbol.asyncDispose]();
    await expect(registry.acquire("a", "desktop")).rejects.toEqual(code("shutting_down"));
    await settle();
    expect([a.log.frees, b.log.frees]).toEqual([0, 1]);
    lease[Symbol.dispose]();
    lease[Symbol.dispose]();
    await disposal;
    await registry[Symbol.asyncDispose]();
    expect([a.log.frees, b.log.frees]).toEqual([1, 1]);
    expect(registry.readiness()).toEqual({ status: "shutting_down", isReady: false });
    await expect(registry.load("a")).rejects.toEqual(code("shutting_down"));
  });

  it("ends a load under way by its signal", async () => {
    const registry = makeRegistry([]);
    const loading = registry.load(
      "a",
      (_onProgress, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error));
        }),
    );
    const failed = expect(loading).rejects.toEqual(code("shutting_down"));
    await settle();
    await registry[Symbol.asyncDispose]();
    await failed;
  });

  it("frees a model whose load did not heed the signal", async () => {
    const a = scriptedKnown("a");
    const registry = makeRegistry([a]);
    const finish = gate();
    a.gate = finish.closed;
    const failed = expect(registry.load("a")).rejects.toEqual(code("shutting_down"));
    await settle();
    const disposal = registry[Symbol.asyncDispose]();
    finish.open();
    await disposal;
    await failed;
    expect(a.log).toMatchObject({ loads: 1, frees: 1 });
  });
});
