import { EngineError, LoadOptions } from "@ingle/engine";
import { KvBits, LoadRequest } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { gate, scriptedKnown, type ScriptedKnown } from "../../test/harness/scripted-models.ts";
import { ownSettings } from "../settings/own-settings.ts";
import {
  agree,
  toLoadSettings,
  settingsOver,
  usualSettings,
  type LoadSettings,
} from "./slot/load-settings.ts";
import { ModelRegistry, type RegistryOptions } from "./registry.ts";

const model = "a";
const refused = expect.objectContaining({ code: "invalid_request" });

function makeRegistry(
  models: readonly ScriptedKnown[],
  options: Partial<RegistryOptions> = {},
): ModelRegistry {
  const registry = new ModelRegistry({ waitingMax: 9, onLoading: "wait", ...options });
  for (const each of models) registry.add(each);
  return registry;
}

/** The bounds of numbers, the choices and the lengths of lists that a schema names, in order. */
function listBounds(schema: z.ZodType): string[] {
  const bounds: string[] = [];
  const keep = (key: string, value: unknown): unknown => {
    if (["minimum", "maximum", "enum", "maxItems"].includes(key))
      bounds.push(`${key} ${JSON.stringify(value)}`);
    return value;
  };
  JSON.stringify(z.toJSONSchema(schema, { io: "input" }), keep);
  return bounds;
}

async function request(registry: ModelRegistry, id: string): Promise<void> {
  using _lease = await registry.acquire(id, "desktop");
}

describe("the settings of a request", () => {
  it("are those that it says; bits of one side win over those of both", () => {
    expect(toLoadSettings({ model, kv_bits: 8, kv_bits_v: 3 })).toEqual({ kvBitsK: 8, kvBitsV: 3 });
    expect(toLoadSettings({ model, context_length: 512 })).toEqual({ contextLength: 512 });
    expect(toLoadSettings({ model, wait: false })).toBeUndefined();
  });

  it("are usually those of the server, else 16 bits", () => {
    expect(usualSettings({})).toEqual({ kvBitsK: 16, kvBitsV: 16 });
    expect(usualSettings({ kvBits: 8, kvBitsV: 4, contextLength: 64 })).toEqual({
      contextLength: 64,
      kvBitsK: 8,
      kvBitsV: 4,
    });
  });

  it("agree with what is so in everything that they say", () => {
    const present = { contextLength: 64, kvBitsK: 8, kvBitsV: 4 } as const;
    expect(agree({ kvBitsV: 4 }, present)).toBe(true);
    expect(agree({ contextLength: 64, kvBitsK: 8 }, present)).toBe(true);
    expect(agree({ contextLength: 64, kvBitsK: 4 }, present)).toBe(false);
    expect(agree({ contextLength: 64 }, { kvBitsK: 8 })).toBe(false);
  });

  it("choose devices by the names of the engine's options", () => {
    const asked = toLoadSettings({ model, device: ["none"], n_cpu_moe: 3, batch_size: 64, mmap: false });
    expect(asked).toEqual({
      devices: { devices: ["none"], cpuMoeLayers: 3, batchTokens: 64, mmap: false },
    });
    const usual = usualSettings({ gpuLayers: "all", noMmap: true, noKvOffload: true, noKvUnified: true });
    expect(usual.devices).toEqual({ gpuLayers: "all", mmap: false, kvOffload: false, kvUnified: false });
    const on = usualSettings({ noMmap: false, noKvUnified: false, mlock: false });
    expect(on.devices).toEqual({ mmap: true, kvUnified: true, mlock: false });
    expect(settingsOver(asked, usual).devices).toMatchObject({ gpuLayers: "all", batchTokens: 64 });
    expect(agree({ devices: { mmap: false } }, usual)).toBe(true);
    expect(agree({ devices: { mmap: true } }, usual)).toBe(false);
    expect(agree({ devices: { tensorSplit: [1, 2] } }, { devices: { tensorSplit: [1, 2] } })).toBe(true);
  });

  it("have a flag, a field and an option of the engine for each setting of devices, with the same bounds", () => {
    const bits = ["kv_bits", "kv_bits_k", "kv_bits_v"];
    const others = new Set(["model", "wait", "context_length", "chat_template", "sampling", ...bits]);
    const fields = Object.entries(LoadRequest.shape).filter(([field]) => !others.has(field));
    expect(ownSettings.map(({ field }) => field).toSorted()).toEqual(
      fields.map(([field]) => field).toSorted(),
    );
    for (const { field, option } of ownSettings) {
      const [inRequest, inEngine] = [
        Reflect.get(LoadRequest.shape, field),
        Reflect.get(LoadOptions.shape, option),
      ];
      expect(listBounds(inRequest), field).toEqual(listBounds(inEngine));
    }
    expect(listBounds(LoadRequest.shape.prio)).toEqual(["minimum -1", "maximum 3"]);
    expect(listBounds(LoadRequest.shape.gpu_layers)).toContain('enum ["auto","all"]');
  });

  it("have the numbers of bits that the engine takes", () => {
    expect([...KvBits.values]).toEqual([...LoadOptions.shape.kvBits.unwrap().values]);
  });
});

describe("a model that was loaded with settings of its own", () => {
  it("comes back with them after it was freed for another", async () => {
    const [a, b] = [scriptedKnown("a"), scriptedKnown("b")];
    const registry = makeRegistry([a, b], { loadedMax: 1 });
    const settings = { contextLength: 512, kvBitsK: 4 } as const;
    await registry.load("a", undefined, { settings });
    await request(registry, "b");
    await request(registry, "a");
    expect(a.asked).toEqual([settings, settings]);
    expect(b.asked).toEqual([undefined]);
    const [slot] = registry.slots;
    expect(slot?.settings).toEqual({ contextLength: 512, kvBitsK: 4, kvBitsV: 16 });
  });

  it("is loaded as usual after a request to unload it, also by those who wait for it meanwhile", async () => {
    const a = scriptedKnown("a");
    const registry = makeRegistry([a]);
    await registry.load("a", undefined, { settings: { contextLength: 512 } });
    const lease = await registry.acquire("a", "desktop");
    const unloading = registry.unload("a");
    await expect.poll(() => registry.slots[0]?.state.kind).toBe("draining");
    const next = registry.acquire("a", "desktop");
    lease[Symbol.dispose]();
    await unloading;
    using came = await next;
    expect(came.model.info.contextLength).toBe(2048);
    expect(a.asked).toEqual([{ contextLength: 512 }, undefined]);
  });

  it("is so after a request to unload what was freed already", async () => {
    const [a, b] = [scriptedKnown("a"), scriptedKnown("b")];
    const registry = makeRegistry([a, b], { loadedMax: 1 });
    await registry.load("a", undefined, { settings: { kvBitsK: 8, kvBitsV: 8 } });
    await request(registry, "b");
    await registry.unload("a");
    await request(registry, "a");
    expect(a.asked).toEqual([{ kvBitsK: 8, kvBitsV: 8 }, undefined]);
  });

  it("keeps them when the order to unload it was taken back", async () => {
    const a = scriptedKnown("a");
    const registry = makeRegistry([a]);
    await registry.load("a", undefined, { settings: { contextLength: 512 } });
    using _lease = await registry.acquire("a", "desktop");
    const hangUp = new AbortController();
    const unloading = registry.unload("a", { signal: hangUp.signal });
    await expect.poll(() => registry.slots[0]?.state.kind).toBe("draining");
    hangUp.abort();
    await expect(unloading).rejects.toThrow();
    expect(registry.slots[0]?.requestedSettings).toEqual({ contextLength: 512 });
  });

  it("takes the same order again, and one that says nothing; another has to unload it first", async () => {
    const a = scriptedKnown("a");
    const registry = makeRegistry([a]);
    const settings = { contextLength: 512, kvBitsK: 4, kvBitsV: 4 } as const;
    const first = await registry.load("a", undefined, { settings });
    expect(await registry.load("a", undefined, { settings })).toBe(first);
    expect(await registry.load("a", undefined, { settings: { kvBitsV: 4 } })).toBe(first);
    expect(await registry.load("a")).toBe(first);
    const other = registry.load("a", undefined, { settings: { kvBitsV: 8 } });
    await expect(other).rejects.toThrow(/context_length 512, kv_bits_k 4, kv_bits_v 4\); unload it first/);
    await registry.unload("a");
    await registry.load("a", undefined, { settings: { kvBitsV: 8 } });
    expect(a.asked).toEqual([settings, { kvBitsV: 8 }]);
  });
});

describe("a request with settings", () => {
  it("given while the model is leaving holds for the next load", async () => {
    const { registry, leave } = await leaving({ contextLength: 512 });
    const next = registry.load("a", undefined, { settings: { contextLength: 256 } });
    await registry.load("b"); // whoever waits for a change looks again
    await leave();
    expect((await next).info.contextLength).toBe(256);
  });

  it("that is taken back while the model is leaving changes nothing", async () => {
    const { a, registry, leave } = await leaving({ contextLength: 512 });
    const hangUp = new AbortController();
    const settings = { contextLength: 256 };
    const next = registry.load("a", undefined, { settings, signal: hangUp.signal });
    await expect.poll(() => registry.slots[0]?.waiting).toBe(1);
    hangUp.abort();
    await expect(next).rejects.toThrow();
    await leave();
    await registry.load("a");
    expect(a.asked).toEqual([{ contextLength: 512 }, undefined]);
  });

  /** A model that was loaded with these settings and is being freed by a request, until leave(). */
  async function leaving(settings: LoadSettings) {
    const a = scriptedKnown("a");
    const freed = gate();
    const prepare: ScriptedKnown["prepare"] = async (options) => {
      const prepared = await a.prepare(options);
      const load: typeof prepared.load = async (onProgress, signal) => {
        const loaded = await prepared.load(onProgress, signal);
        const free = async (): Promise<void> => {
          await freed.closed;
          await loaded[Symbol.asyncDispose]();
        };
        return { ...loaded, [Symbol.asyncDispose]: free };
      };
      return { ...prepared, load };
    };
    const registry = makeRegistry([{ ...a, prepare }, scriptedKnown("b")]);
    await registry.load("a", undefined, { settings });
    const unloading = registry.unload("a");
    await expect.poll(() => registry.slots[0]?.state.kind).toBe("unloading");
    const leave = async (): Promise<void> => {
      freed.open();
      await unloading;
    };
    return { a, registry, leave };
  }

  it("is refused while the model is on its way with others", async () => {
    const a = scriptedKnown("a");
    const finish = gate();
    a.gate = finish.closed;
    const registry = makeRegistry([a]);
    const loading = registry.load("a", undefined, { settings: { kvBitsK: 8 } });
    await expect.poll(() => a.log.loads).toBe(1);
    await expect(registry.load("a", undefined, { settings: { kvBitsK: 4 } })).rejects.toEqual(refused);
    const same = registry.load("a", undefined, { settings: { kvBitsK: 8 } });
    finish.open();
    expect(await same).toBe(await loading);
  });

  it("that fails changes nothing for the loads after it", async () => {
    const [a, b] = [scriptedKnown("a"), scriptedKnown("b")];
    const registry = makeRegistry([a, b], { loadedMax: 1 });
    await registry.load("a", undefined, { settings: { contextLength: 512 } });
    await request(registry, "b");
    a.refusal = new EngineError("invalid_request", "contextLength: too long.");
    const settings = { contextLength: 99_999 };
    await expect(registry.load("a", undefined, { settings })).rejects.toBe(a.refusal);
    a.refusal = undefined;
    await registry.load("a");
    expect(a.asked.at(-1)).toEqual({ contextLength: 512 });
  });

  it("that is taken back before the load begins changes nothing either", async () => {
    const { a, registry, takeBack } = await orderLoad({ kvBitsK: 8 });
    await takeBack();
    await registry.load("a");
    expect(a.asked).toEqual([undefined]);
  });

  it("that is taken back and given again in the same moment is carried out", async () => {
    const { a, registry, takeBack } = await orderLoad({ kvBitsK: 8 });
    const [, again] = [takeBack(), registry.load("a", undefined, { settings: { kvBitsK: 8 } })];
    await again;
    expect(a.asked).toEqual([{ kvBitsK: 8 }]);
  });

  /** An order whose model is prepared forever; the next time it is there at once. */
  async function orderLoad(settings: LoadSettings) {
    const a = scriptedKnown("a");
    let isFirst = true;
    const prepare: ScriptedKnown["prepare"] = async (options) => {
      if (isFirst) await new Promise(() => (isFirst = false));
      return await a.prepare(options);
    };
    const registry = makeRegistry([{ ...a, prepare }]);
    const hangUp = new AbortController();
    const ordered = registry.load("a", undefined, { settings, signal: hangUp.signal });
    await expect.poll(() => isFirst).toBe(false);
    const takeBack = async (): Promise<void> => {
      hangUp.abort();
      await expect(ordered).rejects.toThrow();
    };
    return { a, registry, takeBack };
  }

  it("is refused for a model whose loading somebody else has settled", async () => {
    const a = scriptedKnown("a");
    const { load } = await a.prepare({ signal: new AbortController().signal });
    const registry = makeRegistry([]);
    await registry.load("own", load);
    await registry.unload("own");
    await expect(registry.load("own", undefined, { settings: { kvBitsK: 16 } })).rejects.toEqual(refused);
  });
});
