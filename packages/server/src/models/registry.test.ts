import { EngineError, type LoadedModel } from "@ingle/engine";
import { scriptedModel } from "@ingle/engine/testing";
import { describe, expect, it, vi } from "vitest";
import { ModelRegistry } from "./registry.ts";

const code = (expected: string) => expect.objectContaining({ code: expected });

async function loaded(): Promise<LoadedModel & { dispose: ReturnType<typeof vi.fn> }> {
  const { model } = await scriptedModel({ parallel: 2 });
  const dispose = vi.fn(() => model[Symbol.asyncDispose]());
  return { model, tokenizer: model.tokenizer, [Symbol.asyncDispose]: dispose, dispose };
}

function newRegistry(): ModelRegistry {
  return new ModelRegistry({ waitingMax: 1, now: () => new Date(5_000) });
}

/** Node 22 has it built in. */
function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

describe("loading", () => {
  it("goes from empty through loading with its progress to loaded", async () => {
    const registry = newRegistry();
    expect(registry.state).toEqual({ kind: "empty" });
    const finish = withResolvers<LoadedModel>();
    const loading = registry.load("a", async (onProgress) => {
      onProgress(0.25);
      return finish.promise;
    });
    expect(registry.state).toEqual({ kind: "loading", id: "a", progress: 0.25 });
    finish.resolve(await loaded());
    const model = await loading;
    expect(registry.state).toMatchObject({ kind: "loaded", id: "a", model });
  });

  it("happens once for all who ask for the same id", async () => {
    const registry = newRegistry();
    const loader = vi.fn(loaded);
    const [first, second] = await Promise.all([registry.load("a", loader), registry.load("a", loader)]);
    expect(await registry.load("a", loader)).toBe(first);
    expect(second).toBe(first);
    expect(loader).toHaveBeenCalledTimes(1);
  });

  it("is refused for a second model", async () => {
    const registry = newRegistry();
    await registry.load("a", loaded);
    await expect(registry.load("b", loaded)).rejects.toEqual(code("invalid_request"));
  });

  it("may be tried again after a failure, which every request sees until then", async () => {
    const registry = newRegistry();
    const broken = new EngineError("model_invalid", "The file is no GGUF.");
    await expect(registry.load("a", () => Promise.reject(broken))).rejects.toBe(broken);
    expect(registry.state).toEqual({ kind: "failed", id: "a", error: broken });
    await expect(registry.acquire("a", "desktop")).rejects.toEqual(code("engine_failed"));
    await registry.load("a", loaded);
    expect(registry.state.kind).toBe("loaded");
  });

  it("ignores a report of progress that comes after the end", async () => {
    const registry = newRegistry();
    let report: ((fraction: number) => void) | undefined;
    await registry.load("a", (onProgress) => {
      report = onProgress;
      return loaded();
    });
    report?.(0.5);
    expect(registry.state.kind).toBe("loaded");
  });
});

describe("which id is accepted", () => {
  it.each(["desktop", "command-line", "serverless"] as const)(
    "%s: only the one that is served",
    async (variant) => {
      const registry = newRegistry();
      await expect(registry.acquire("a", variant)).rejects.toEqual(code("model_not_found"));
      await registry.load("a", loaded);
      expect((await registry.acquire("a", variant)).id).toBe("a");
      await expect(registry.acquire("A", variant)).rejects.toEqual(code("model_not_found"));
    },
  );

  it("developer: any string, and the answer names the real one", async () => {
    const registry = newRegistry();
    await registry.load("a", loaded);
    expect((await registry.acquire("whatever", "developer")).id).toBe("a");
    expect((await registry.acquire("", "developer")).id).toBe("a");
  });

  it("is told to come back in 1 to 5 seconds while the model loads", async () => {
    const registry = newRegistry();
    void registry.load("a", () => new Promise(() => {})); // never ends
    const later = expect.objectContaining({ code: "model_loading", details: { retryAfterSeconds: 5 } });
    await expect(registry.acquire("a", "desktop")).rejects.toEqual(later);
    expect(() => registry.describe("a")).toThrow(later);
    await expect(registry.acquire("b", "desktop")).rejects.toEqual(code("model_not_found"));
    await expect(registry.acquire("b", "developer")).rejects.toEqual(code("model_loading"));
    expect(registry.list()).toEqual([]);
  });
});

describe("the list", () => {
  it("has the fields of a model entry", async () => {
    const registry = newRegistry();
    await registry.load("a", loaded);
    expect(registry.list()).toEqual([
      {
        id: "a",
        object: "model",
        created: 5,
        owned_by: "local",
        context_length: 2048,
        max_model_len: 2048,
        input_modalities: ["text"],
        quantization: "F16",
        size_bytes: 2000,
        n_params: 1000,
        status: "loaded",
      },
    ]);
    expect(registry.describe("a")).toEqual(registry.list()[0]);
    expect(() => registry.describe("b")).toThrow(code("model_not_found"));
  });
});

describe("disposal", () => {
  it("waits for the last lease, takes no new one and frees the model once", async () => {
    const registry = newRegistry();
    const held = await loaded();
    await registry.load("a", async () => held);
    const lease = await registry.acquire("a", "desktop");
    const disposal = registry[Symbol.asyncDispose]();
    await expect(registry.acquire("a", "desktop")).rejects.toEqual(code("shutting_down"));
    await new Promise(setImmediate);
    expect(held.dispose).not.toHaveBeenCalled();
    lease[Symbol.dispose]();
    lease[Symbol.dispose]();
    await disposal;
    await registry[Symbol.asyncDispose]();
    expect(held.dispose).toHaveBeenCalledTimes(1);
    expect(registry.state).toEqual({ kind: "closed" });
  });

  it("ends a load under way by its signal", async () => {
    const registry = newRegistry();
    const loading = registry.load(
      "a",
      (_onProgress, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error));
        }),
    );
    const failed = expect(loading).rejects.toEqual(code("shutting_down"));
    await registry[Symbol.asyncDispose]();
    await failed;
    await expect(registry.load("a", loaded)).rejects.toEqual(code("shutting_down"));
  });

  it("frees a model whose load did not heed the signal", async () => {
    const registry = newRegistry();
    const held = await loaded();
    const finish = withResolvers<LoadedModel>();
    const failed = expect(registry.load("a", () => finish.promise)).rejects.toEqual(code("shutting_down"));
    const disposal = registry[Symbol.asyncDispose]();
    finish.resolve(held);
    await disposal;
    await failed;
    expect(held.dispose).toHaveBeenCalledTimes(1);
  });
});
