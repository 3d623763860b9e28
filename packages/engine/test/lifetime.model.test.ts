// Every way to end while the engine is working: dispose, exit, a terminated worker, garbage collection. None may crash the process.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { EngineError, setLogSink } from "@ingle/engine";
import { tinyModel, until } from "@ingle/fixtures";
import { describe, expect, it } from "vitest";
import { loadTiny, within } from "./tiny.ts";

const engine = new URL("../dist/index.js", import.meta.url).href;

/** Loads the tiny model, starts three endless generations, and runs `ending` after the first text. */
async function script(ending: string): Promise<string> {
  return `
    import { load } from ${JSON.stringify(engine)};
    const { model } = await load(${JSON.stringify(await tinyModel())}, { threads: 1 });
    let pieces = 0;
    const talk = async () => {
      try {
        for await (const chunk of model.generate({ prompt: "on and on", maxTokens: 2000, ignoreEos: true })) {
          pieces += 1;
          if (pieces === 20) { ${ending} }
        }
      } catch (error) { if (error.code !== "disposed") throw error; }
    };
    await Promise.all([talk(), talk(), talk()]);
  `;
}

function dataUrl(source: string): string {
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

async function runChild(
  source: string,
): Promise<{ code: number | null; signal: string | null; stderr: string }> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", source], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (data: Buffer) => (stderr += data.toString()));
  const timer = globalThis.setTimeout(() => child.kill("SIGKILL"), 30_000);
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  clearTimeout(timer);
  return { code, signal, stderr };
}

describe("the end of an engine", () => {
  it("fails running and later generations with `disposed` when the model is disposed", async () => {
    const loaded = await loadTiny();
    const running = [1, 2, 3].map((seed) => loaded.model.generate({ prompt: "long", seed, maxTokens: 1900 }));
    await until(() => loaded.model.stats().running === 3);
    await within(10_000, loaded[Symbol.asyncDispose]());
    for (const generation of running) {
      await expect(Promise.resolve(generation)).rejects.toSatisfy(EngineError.is);
      await expect(Promise.resolve(generation)).rejects.toMatchObject({ code: "disposed" });
    }
    expect(() => loaded.model.generate({ prompt: "again" })).toThrow(/disposed/);
    await loaded[Symbol.asyncDispose](); // disposing twice has no effect
  });

  it("lets the process end if nothing is running, even if the model was not disposed", async () => {
    const source = `
      import { load } from ${JSON.stringify(engine)};
      const { model } = await load(${JSON.stringify(await tinyModel())}, { threads: 1 });
      await model.generate({ prompt: "short", maxTokens: 3 });
    `;
    expect(await runChild(source)).toEqual({ code: 0, signal: null, stderr: "" });
  });

  it("exits with the given code while generating", async () => {
    expect(await runChild(await script("process.exit(0);"))).toEqual({ code: 0, signal: null, stderr: "" });
    expect(await runChild(await script("process.exit(7);"))).toEqual({ code: 7, signal: null, stderr: "" });
  });

  it("exits cleanly at any moment of its thread's work", async () => {
    for (let round = 0; round < 12; round += 1) {
      const pieces = 3 + round * 7;
      const source = (await script("process.exit(0);")).replace("pieces === 20", `pieces === ${pieces}`);
      expect(await runChild(source), `after ${pieces} pieces`).toEqual({ code: 0, signal: null, stderr: "" });
    }
  });

  it("disposes while generating and ends with code 0", async () => {
    expect(await runChild(await script("await model[Symbol.asyncDispose]();"))).toEqual({
      code: 0,
      signal: null,
      stderr: "",
    });
  });

  it("exits with code 0 while a model is being loaded", async () => {
    const source = `
      import { load } from ${JSON.stringify(engine)};
      load(${JSON.stringify(await tinyModel())}, { threads: 1 }).catch(() => {});
      setImmediate(() => process.exit(0));
    `;
    expect(await runChild(source)).toEqual({ code: 0, signal: null, stderr: "" });
  });

  it("keeps sending the log to its receiver when a worker thread ends that received it before", async () => {
    const source = `
      const { parentPort } = await import("node:worker_threads");
      const { setLogSink } = await import(${JSON.stringify(engine)});
      await setLogSink(() => {});
      parentPort.postMessage("hears");
      setInterval(() => {}, 1000);`;
    const worker = new Worker(`import(${JSON.stringify(dataUrl(source))})`, { eval: true });
    await within(20_000, once(worker, "message"));
    const lines: string[] = [];
    await setLogSink((_, text) => lines.push(text));
    await within(10_000, worker.terminate());
    await (await loadTiny())[Symbol.asyncDispose]();
    await setLogSink(null);
    expect(lines).not.toEqual([]);
  });

  it("survives worker threads terminated while they load and prepare", async () => {
    const path = JSON.stringify(await tinyModel());
    const text = '"some words ".repeat(5000)';
    const endless = [
      `await (await load(${path}, { threads: 1 }))[Symbol.asyncDispose]();`,
      `await model.tokenizer.decode(await model.tokenizer.encode(${text}));`,
      `await model.promptTokens({ messages: [{ role: "user", content: ${text} }] });`,
      `await model.generate({ prompt: "one two", responseFormat: { type: "json" }, maxTokens: 1 });`,
    ];
    for (const work of endless) {
      const source = `
        const { parentPort } = await import("node:worker_threads");
        const { load } = await import(${JSON.stringify(engine)});
        const { model } = await load(${path}, { threads: 1 });
        parentPort.postMessage("at work");
        for (;;) { ${work} }`;
      for (let round = 0; round < 3; round += 1) {
        const worker = new Worker(`import(${JSON.stringify(dataUrl(source))})`, { eval: true });
        await within(20_000, once(worker, "message"));
        await setTimeout(3 + round * 5);
        expect(await within(10_000, worker.terminate())).toBe(1);
      }
    }
  }, 60_000);

  it("survives worker threads terminated while they generate, beside a model that continues", async () => {
    await using loaded = await loadTiny();
    const source = await script('(await import("node:worker_threads")).parentPort?.postMessage("talking");');
    for (let round = 0; round < 4; round += 1) {
      const worker = new Worker(`import(${JSON.stringify(dataUrl(source))})`, { eval: true });
      await within(20_000, once(worker, "message"));
      await within(10_000, worker.terminate());
    }
    expect((await loaded.model.generate({ prompt: "still here", maxTokens: 3 })).usage.completionTokens).toBe(
      3,
    );
  });
});
