// Pinning a model while the server runs: it is kept from leaving, or may leave again.
import { expect, it, vi } from "vitest";
import { scriptedKnown } from "../../test/harness/scripted-models.ts";
import { ModelRegistry } from "./registry.ts";

async function loaded(options: { idleUnloadMs?: number; loadedMax?: number }) {
  const registry = new ModelRegistry({ waitingMax: 9, onLoading: "wait", ...options });
  for (const id of ["a", "b"]) registry.add(scriptedKnown(id));
  await registry.load("a");
  return { registry, slot: await registry.known("a") };
}

it("a pinned model outlives its idle time, and leaves after one once it is let go", async () => {
  vi.useFakeTimers();
  try {
    const { slot } = await loaded({ idleUnloadMs: 5_000 });
    await vi.advanceTimersByTimeAsync(4_000);
    slot.pin(true);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(slot.state.kind).toBe("loaded");
    slot.pin(false);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(slot.state.kind).toBe("loaded");
    await vi.advanceTimersByTimeAsync(2_000);
    expect(slot.state.kind).toBe("available");
  } finally {
    vi.useRealTimers();
  }
});

it("a model that was to leave for another stays when it is pinned, and the other is told so", async () => {
  const { registry, slot } = await loaded({ loadedMax: 1 });
  using _lease = await registry.acquire("a", "desktop");
  const loading = registry.load("b");
  await expect.poll(() => slot.state.kind).toBe("draining");
  slot.pin(true);
  await expect(loading).rejects.toThrow(/pinned models are not evicted/);
  expect(slot.state.kind).toBe("loaded");
});

it("a model that a request frees is freed all the same", async () => {
  const { registry, slot } = await loaded({});
  const lease = await registry.acquire("a", "desktop");
  const unloading = registry.unload("a");
  await expect.poll(() => slot.state.kind).toBe("draining");
  slot.pin(true);
  expect(slot.state.kind).toBe("draining");
  lease[Symbol.dispose]();
  await unloading;
  expect(slot.state.kind).toBe("available");
});
