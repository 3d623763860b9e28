import { EngineError } from "@ingle/engine";
import { describe, expect, it } from "vitest";
import { scriptedEngine, testWorld, type TestWorld } from "../../../test/cli-context.ts";
import { ModelRegistry } from "../../models/registry.ts";
import { serve, type RunningServer } from "../../serve.ts";
import { scriptedKnown, type ScriptedKnown } from "../../../test/harness/scripted-models.ts";
import { testConfig } from "../../../test/harness/scripted-server.ts";
import { main } from "../main.ts";

/** A running server with these models, and a command line for it. */
async function startServer(models: readonly ScriptedKnown[], flags: { apiKey?: string[] } = {}) {
  const registry = new ModelRegistry({ waitingMax: 9, onLoading: "wait" });
  for (const model of models) registry.add(model);
  const server = await serve(testConfig(flags), { logger: false, registry });
  const ingle = (args: string[], env: NodeJS.ProcessEnv = {}) => run(server, args, env);
  return { registry, ingle, [Symbol.asyncDispose]: () => server.close({ deadlineMs: 0 }) };
}

async function run(
  server: RunningServer,
  args: string[],
  env: NodeJS.ProcessEnv,
): Promise<{ exit: number } & Pick<TestWorld, "out" | "err">> {
  const world = testWorld({ engine: scriptedEngine(), env: { INGLE_URL: server.url, ...env } });
  return { exit: await main("ingle", args, world.context), out: world.out, err: world.err };
}

describe("ingle ps, load and unload", () => {
  it("show what is in memory, and change it", async () => {
    const models = [scriptedKnown("a", { hostBytes: 3 * 1024 ** 2 }), scriptedKnown("b")];
    await using server = await startServer(models);
    expect((await server.ingle(["ps"])).out()).toBe("No model is in memory.\n");
    const loaded = await server.ingle(["load", "a"]);
    expect([loaded.exit, loaded.out()]).toEqual([0, "a is loaded, 3 MiB.\n"]);
    expect((await server.ingle(["ps"])).out()).toMatch(
      /^MODEL +STATUS +MEMORY +REQUESTS +CONTEXT +PER 1,000 TOKENS\na +loaded +3 MiB +0 running, 0 waiting +2048 +1000 KiB\n\n3 MiB for models\.\n$/,
    );
    expect((await server.ingle(["ps", "--all"])).out()).toMatch(/^b +available/m);
    const unloaded = await server.ingle(["unload", "a"]);
    expect([unloaded.exit, unloaded.out()]).toEqual([0, "a is not in memory.\n"]);
    expect(models[0]?.log).toMatchObject({ loads: 1, frees: 1 });
  });

  it("load a model with settings of its own", async () => {
    const a = scriptedKnown("a");
    await using server = await startServer([a]);
    const flags = ["--kv-bits", "8", "--kv-bits-v", "4", "--ctx", "512"];
    expect((await server.ingle(["load", "a", ...flags])).exit).toBe(0);
    expect(a.asked).toEqual([{ contextLength: 512, kvBitsK: 8, kvBitsV: 4 }]);
    const other = await server.ingle(["load", "a", "--ctx", "1024"]);
    expect([other.exit, other.err()]).toEqual([1, expect.stringContaining("unload it first")]);
  });

  it("load a model with defaults of its requests", async () => {
    const a = scriptedKnown("a");
    await using server = await startServer([a]);
    const flags = "--temp 0.5 --top-k 0 --top-p 0.9 --min-p 0.1 --seed 7 -n 20".split(" ");
    expect((await server.ingle(["load", "a", ...flags])).exit).toBe(0);
    const sampling = { temperature: 0.5, top_k: 0, top_p: 0.9, min_p: 0.1, seed: 7, max_tokens: 20 };
    expect(a.asked).toEqual([{ sampling }]);
    await server.ingle(["unload", "a"]);
    const wrong = await server.ingle(["load", "a", "--min-p", "2"]);
    expect([wrong.exit, wrong.err()]).toEqual([1, expect.stringContaining("min_p")]);
  });

  it("load a model on devices and processors of their choice", async () => {
    const a = scriptedKnown("a");
    await using server = await startServer([a]);
    const flags =
      "--device Vulkan0,Vulkan1 --gpu-layers 12 --tensor-split 3,1 --override-tensor exps=CPU --no-mmap --prio -1 " +
      "--rope-scale 2.5 --no-kv-offload --cpu-range 0-3";
    expect((await server.ingle(["load", "a", ...flags.split(" ")])).exit).toBe(0);
    const devices = {
      devices: ["Vulkan0", "Vulkan1"],
      gpuLayers: 12,
      tensorSplit: [3, 1],
      overrideTensor: ["exps=CPU"],
      mmap: false,
      priority: -1,
      ropeScale: 2.5,
      kvOffload: false,
      cpuRange: "0-3",
    };
    const opposite = scriptedKnown("b");
    server.registry.add(opposite);
    const switches = ["--mmap", "--kv-unified", "--no-mlock"];
    expect((await server.ingle(["load", "b", ...switches])).exit).toBe(0);
    expect(opposite.asked).toEqual([{ devices: { mmap: true, kvUnified: true, mlock: false } }]);
    expect(a.asked).toEqual([{ devices }]);
    for (const wrong of [
      ["--gpu-layers", "many"],
      ["--tensor-split", "1,,2"],
      ["--cpu-mask", "xyz"],
    ]) {
      const refused = await server.ingle(["load", "a", ...wrong]);
      expect([refused.exit, refused.err()]).toEqual([
        1,
        expect.stringContaining(`${wrong[0] ?? ""} must be`),
      ]);
    }
  });

  it("print JSON for programs", async () => {
    await using server = await startServer([scriptedKnown("a")]);
    await server.registry.load("a");
    expect(JSON.parse((await server.ingle(["ps", "--json"])).out())).toMatchObject([{ id: "a" }]);
  });

  it("wait for the requests that use the model", async () => {
    await using server = await startServer([scriptedKnown("a")]);
    await server.registry.load("a");
    const lease = await server.registry.acquire("a", "desktop");
    const unloading = server.ingle(["unload", "a"]);
    await expect.poll(() => server.registry.slots[0]?.state.kind).toBe("draining");
    lease[Symbol.dispose]();
    expect((await unloading).exit).toBe(0);
  });

  it("are done once the model was unloaded, even if a new request loads it again at once", async () => {
    await using server = await startServer([scriptedKnown("a")]);
    await server.registry.load("a");
    const lease = await server.registry.acquire("a", "desktop");
    const unloading = server.ingle(["unload", "a"]);
    await expect.poll(() => server.registry.slots[0]?.state.kind).toBe("draining");
    const waiting = server.registry.acquire("a", "desktop");
    await new Promise((resolve) => setTimeout(resolve, 300)); // until the command has seen the wait
    lease[Symbol.dispose]();
    using _again = await waiting;
    const { exit, out, err } = await unloading;
    expect([exit, out()]).toEqual([0, "a was unloaded, and is being loaded again for a new request.\n"]);
    expect(err()).toBe("Waiting for the requests that use a …\n");
  });

  it("fail with the server's message when it refuses", async () => {
    const broken = scriptedKnown("broken");
    broken.refusal = new EngineError("model_invalid", "broken.gguf is cut short.");
    await using server = await startServer([broken]);
    const failed = await server.ingle(["load", "broken"]);
    expect([failed.exit, failed.err()]).toEqual([1, expect.stringContaining("broken.gguf is cut short.")]);
    const unknown = await server.ingle(["load", "nothing"]);
    expect([unknown.exit, unknown.err()]).toEqual([1, expect.stringContaining("nothing")]);
  });

  it("send a key if the server requires one", async () => {
    await using server = await startServer([], { apiKey: ["secret"] });
    expect((await server.ingle(["ps"])).exit).toBe(1);
    expect((await server.ingle(["ps", "--api-key", "secret"])).exit).toBe(0);
    expect((await server.ingle(["ps"], { INGLE_API_KEYS: "secret,other" })).exit).toBe(0);
  });

  it("say what to do when no server answers", async () => {
    const world = testWorld({ env: { INGLE_URL: "http://127.0.0.1:9" } });
    expect(await main("ingle", ["ps"], world.context)).toBe(1);
    expect(world.err()).toContain("No server responds at http://127.0.0.1:9");
  });
});
