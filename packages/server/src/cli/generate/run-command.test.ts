import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { GenerationRequest, LoadOptions } from "@ingle/engine";
import { describe, expect, it } from "vitest";
import { scriptedEngine, testWorld } from "../../../test/cli-context.ts";
import { main } from "../main.ts";

/** An engine that remembers how models are loaded, and what they are asked. */
function recordingEngine() {
  const engine = scriptedEngine();
  const asked: { request: GenerationRequest; options: LoadOptions | undefined }[] = [];
  const load: typeof engine.load = async (file, options) => {
    const loaded = await engine.load(file, options);
    const generate = loaded.model.generate.bind(loaded.model);
    loaded.model.generate = (request, rest) => {
      asked.push({ request, options });
      return generate(request, rest);
    };
    return loaded;
  };
  return { engine: { ...engine, load }, asked };
}

describe("ingle run", () => {
  it("writes only the reply to stdout, with a line break at the end", async () => {
    const { context, out } = testWorld({ engine: scriptedEngine({ pieces: ["Paris", " it", " is."] }) });
    expect(await main("ingle", ["run", "What", "is it?"], context)).toBe(0);
    expect(out()).toBe("Paris it is.\n");
  });

  it("ignores keys that the environment sets for a server", async () => {
    const env = { INGLE_API_KEYS: "short", INGLE_ADMIN_KEY_FILE: "/no/such/file" };
    const { context } = testWorld({ engine: scriptedEngine({ pieces: ["Hi"] }), env });
    expect(await main("ingle", ["run", "hi"], context)).toBe(0);
  });

  it("writes each piece as it comes", async () => {
    const { context, out, outHas } = testWorld({
      engine: scriptedEngine({ pieces: ["first", " second"], delayMs: 40 }),
    });
    const running = main("ingle", ["run", "hi"], context);
    await outHas("first");
    expect(out()).toBe("first");
    expect(await running).toBe(0);
    expect(out()).toBe("first second\n");
  });

  it("sends the system message and the prompt to the model", async () => {
    const { engine, asked } = recordingEngine();
    await main("ingle", ["run", "--system", "Be kind.", "Hello"], testWorld({ engine }).context);
    expect(asked.map(({ request }) => request.messages)).toEqual([
      [
        { role: "system", content: "Be kind." },
        { role: "user", content: "Hello" },
      ],
    ]);
  });

  it("takes the settings that stay with the model, unless a flag says otherwise", async () => {
    const home = await mkdtemp(path.join(tmpdir(), "ingle-run-"));
    const { engine, asked } = recordingEngine();
    const env = { INGLE_HOME: home, INGLE_TEMP: "0.9", INGLE_TOP_K: "7" };
    const run = async (...args: string[]): Promise<void> => {
      expect(await main("ingle", args, testWorld({ engine, env }).context)).toBe(0);
    };
    const settings = { context_length: 512, kv_bits: 8, system_prompt: "Be brief.", thinking: false };
    for (const [key, value] of Object.entries({ ...settings, temperature: 0.25 }))
      await run("config", "set", "*", key, String(value));
    await run("run", "Hello");
    await run("run", "--system", "Be kind.", "--ctx", "64", "--temperature", "1", "Hello");
    expect(asked).toMatchObject([
      {
        options: { contextLength: 512, kvBitsK: 8, kvBitsV: 8 },
        request: { temperature: 0.25, topK: 7, thinking: false, messages: [{ content: "Be brief." }, {}] },
      },
      {
        options: { contextLength: 64, kvBitsK: 8 },
        request: { temperature: 1, messages: [{ content: "Be kind." }, {}] },
      },
    ]);
    await rm(home, { recursive: true });
  });

  it("reads the prompt from stdin when there is none on the command line", async () => {
    const { context, out, stdin } = testWorld({ engine: scriptedEngine({ pieces: ["ok"] }) });
    stdin.end("What is it?");
    expect(await main("ingle", ["run"], context)).toBe(0);
    expect(out()).toBe("ok\n");
  });

  it("is wrong usage without a prompt, and loads nothing", async () => {
    const load = () => Promise.reject(new Error("was loaded"));
    const { context, err, stdin } = testWorld({ engine: scriptedEngine({}, { load }) });
    stdin.end("  \n");
    expect(await main("ingle", ["run"], context)).toBe(2);
    expect(err()).toContain("No prompt given.");
  });

  it("does not wait for a prompt on a terminal", async () => {
    const { context, err } = testWorld({ engine: scriptedEngine(), isTTY: true });
    expect(await main("ingle", ["run"], context)).toBe(2);
    expect(err()).toContain("No prompt given.");
  });

  it.each([
    [["--top-p", "3"], "'--top-p <number>' argument '3' is invalid. It must be at most 1."],
    [["--top-p", "0"], "'--top-p <number>' argument '0' is invalid. It must be a number of at least"],
    [["--min-p", "2"], "--min-p"],
    [["--temperature", "-1"], "--temperature: must be at least 0"],
    [["--max-tokens", "1.5"], "--max-tokens"],
    [["--ctx", "3"], "--ctx"],
    [["--threads", "0"], "--threads"],
    [["--seed", "1.5"], "--seed"],
    [["--temperature", "warm"], "--temperature"],
  ])("names the invalid flag: %s", async (flags, name) => {
    const { context, err } = testWorld({ engine: scriptedEngine() });
    expect(await main("ingle", ["run", ...flags, "hi"], context)).toBe(2);
    expect(err()).toContain(name);
  });

  it("ends after --max-tokens", async () => {
    const { context, out } = testWorld({ engine: scriptedEngine({ pieces: ["a", "b", "c"] }) });
    expect(await main("ingle", ["run", "--max-tokens", "2", "hi"], context)).toBe(0);
    expect(out()).toBe("ab\n");
  });

  it("samples as its flags say, else as the environment, else as the model's makers recommend", async () => {
    const info = { hasChatTemplate: false };
    const seen: object[] = [];
    const engine = scriptedEngine({ pieces: ["a", "b", "c", "d"], info });
    const listening = {
      ...engine,
      load: async (...args: Parameters<typeof engine.load>) => {
        const loaded = await engine.load(...args);
        Object.assign(loaded.model.info, { sampling: { temperature: 0.1, topP: 0.2, minP: 0.3 } });
        const generate = loaded.model.generate.bind(loaded.model);
        loaded.model.generate = (request, rest) => {
          seen.push(request);
          return generate(request, rest);
        };
        return loaded;
      },
    };
    const { context, out } = testWorld({
      engine: listening,
      env: { INGLE_TOP_P: "0.5", INGLE_PREDICT: "3" },
    });
    expect(await main("ingle", ["run", "--temp", "0.7", "hi"], context)).toBe(0);
    expect(out()).toBe("abc\n");
    expect(
      await main("ingle", ["run", "--temperature", "0.9", "--no-model-sampling", "-n", "2", "hi"], context),
    ).toBe(0);
    expect(seen).toMatchObject([
      { temperature: 0.7, topP: 0.5, minP: 0.3, maxTokens: 3 },
      { temperature: 0.9, topP: 0.5, maxTokens: 2 },
    ]);
    expect(seen[1]).not.toHaveProperty("minP");
  });

  it("completes the text with a model that has no chat template", async () => {
    const engine = scriptedEngine({ pieces: [" upon a time"], info: { hasChatTemplate: false } });
    const { context, out, err } = testWorld({ engine });
    expect(await main("ingle", ["run", "Once"], context)).toBe(0);
    expect(out()).toBe(" upon a time\n");
    expect(await main("ingle", ["run", "--system", "Be kind.", "Once"], context)).toBe(2);
    expect(err()).toContain("no chat template");
  });

  it("exits with 130 when interrupted, and reports a failure of the engine", async () => {
    const endless = testWorld({ engine: scriptedEngine({ pieces: ["a", "b"], delayMs: 60 }) });
    const running = main("ingle", ["run", "hi"], endless.context);
    await endless.outHas("a");
    endless.signals.emit("SIGINT");
    expect(await running).toBe(130);

    const broken = testWorld({
      engine: scriptedEngine({
        pieces: ["a"],
        failure: { code: "engine_failed", message: "The decode failed." },
      }),
    });
    expect(await main("ingle", ["run", "hi"], broken.context)).toBe(1);
    expect(broken.err()).toContain("ingle: The decode failed.\n");
  });

  it("exits with 130 when interrupted while it waits for its prompt", async () => {
    const { context, signals } = testWorld({ engine: scriptedEngine() });
    const running = main("ingle", ["run"], context);
    setTimeout(() => signals.emit("SIGINT"), 20);
    expect(await running).toBe(130);
  });

  it("shows the stack only with INGLE_DEBUG=1", async () => {
    const load = () => Promise.reject(new TypeError("x is not a function"));
    const engine = scriptedEngine({}, { load });
    const quiet = testWorld({ engine });
    expect(await main("ingle", ["run", "hi"], quiet.context)).toBe(1);
    expect(quiet.err()).toContain("x is not a function. This is a bug; INGLE_DEBUG=1 shows where.");
    expect(quiet.err()).not.toContain("    at ");
    const loud = testWorld({ engine, env: { INGLE_DEBUG: "1" } });
    await main("ingle", ["run", "hi"], loud.context);
    expect(loud.err()).toContain("    at ");
  });
});
