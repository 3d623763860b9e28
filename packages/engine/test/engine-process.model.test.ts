// Engines in processes of their own: the same results as in this process, and what a crash costs.
import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  load,
  type EngineCrash,
  type Generation,
  type KvBlockReport,
  type LoadedModel,
  type LoadOptions,
  setLogSink,
} from "@ingle/engine";
import {
  exactArithmetic,
  hasLandlock,
  isRunning,
  makeTinyModel,
  enginePid,
  tinyModel,
  until,
} from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { within } from "./tiny.ts";

const home = await mkdtemp(path.join(tmpdir(), "ingle-crashes-"));
beforeAll(() => vi.stubEnv("INGLE_HOME", home));
afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(home, { recursive: true });
});

const engine = "process";

async function loadApart(options: LoadOptions = {}): Promise<LoadedModel> {
  const file = await tinyModel({ weights: "f32" });
  return await load(file, { threads: 1, ...exactArithmetic, engine, ...options });
}

/** A reply without an end, once its first piece has arrived. In an object, because a generation is awaitable. */
async function streaming({ model }: LoadedModel): Promise<{ generation: Generation }> {
  const generation = model.generate({ prompt: "on and on", maxTokens: 2000, ignoreEos: true });
  await new Promise<void>((resolve, reject) => {
    const read = async (): Promise<void> => {
      for await (const _ of generation) resolve();
    };
    read().catch(reject); // after the first piece, the test awaits the generation itself
  });
  return { generation };
}

function nextCrash({ model }: LoadedModel): Promise<EngineCrash> {
  return new Promise((resolve) => {
    if (model.process !== null) model.process.onCrash = resolve;
  });
}

describe("an engine in a process of its own", () => {
  it("generates what one in this process does", async () => {
    await using apart = await loadApart();
    await using here = await loadApart({ engine: "in-process" });
    expect(apart.model.info).toEqual(here.model.info);
    const plain = { prompt: "Once upon a time", temperature: 0, maxTokens: 30, logprobs: 2 };
    const chat = {
      messages: [{ role: "user" as const, content: "Hello" }],
      temperature: 0,
      maxTokens: 30,
      responseFormat: { type: "json" as const },
    };
    for (const request of [plain, chat]) {
      const [first, second] = [await apart.model.generate(request), await here.model.generate(request)];
      expect({ ...first, timings: 0 }).toEqual({ ...second, timings: 0 });
    }
    const embeddings = async ({ model }: LoadedModel): Promise<Float32Array[]> =>
      (await model.embed(["one", "two"])).embeddings;
    expect(await embeddings(apart)).toEqual(await embeddings(here));
    expect(apart.model.stats().generatedTokens).toBe(here.model.stats().generatedTokens);
    const ids = await apart.tokenizer.encode("a text");
    expect(await apart.tokenizer.decode(ids)).toContain("a text");
  });

  it("fails with the same errors", async () => {
    await using apart = await loadApart({ contextLength: 64, parallel: 1, waitingMax: 0 });
    const tooLong = apart.model.generate({ prompt: "long ".repeat(100) });
    await expect(tooLong).rejects.toMatchObject({
      code: "context_length_exceeded",
      details: { contextLength: 64 },
    });
    const grammar = { type: "grammar" as const, grammar: "root ::= (" };
    await expect(apart.model.generate({ prompt: "a", responseFormat: grammar })).rejects.toMatchObject({
      code: "invalid_request",
      details: { param: "responseFormat.grammar" },
    });
    await expect(loadApart({ draftModel: "/nowhere.gguf" })).rejects.toMatchObject({
      code: "model_not_found",
    });
    await expect(loadApart({ rpc: { workers: [] } })).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("cancels", async () => {
    await using apart = await loadApart();
    const { generation } = await streaming(apart);
    generation.cancel();
    await expect.poll(() => apart.model.stats().running).toBe(0);
  });

  it("reports the same blocks", async () => {
    const firstStored = async (
      place: NonNullable<LoadOptions["engine"]>,
    ): Promise<KvBlockReport["stored"]> => {
      await using loaded = await loadApart({ kvBlockSalt: "tiny", engine: place });
      const reports: KvBlockReport[] = [];
      using _follower = loaded.model.followKvBlocks((report) => reports.push(report));
      await loaded.model.generate({ prompt: "a block has many tokens ".repeat(20), maxTokens: 3 });
      return await vi.waitUntil(() =>
        reports.map(({ stored }) => stored).find((stored) => stored.length > 0),
      );
    };
    expect(await firstStored("process")).toEqual(await firstStored("in-process"));
  });

  it("does not wait for a parent that is slow to read", async () => {
    await using here = await loadApart({ engine: "in-process" });
    await using apart = await loadApart();
    // More than the socket holds, which is a hundred of these.
    const request = { prompt: "on and on", temperature: 0, maxTokens: 300, ignoreEos: true, logprobs: 20 };
    const expected = await here.model.generate(request);
    const generation = apart.model.generate(request);
    await generation[Symbol.asyncIterator]().next();
    const blockedMs = 500 + 3 * expected.timings.predictedMs;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockedMs);
    const found = await generation;
    expect({ ...found, timings: 0 }).toEqual({ ...expected, timings: 0 });
    expect(found.timings.predictedMs).toBeLessThan(blockedMs);
  });

  it("ends with the model, and its memory with it", async () => {
    const apart = await loadApart();
    const pid = enginePid(apart.model);
    const { generation } = await streaming(apart);
    await apart[Symbol.asyncDispose]();
    expect(isRunning(pid)).toBe(false);
    await expect(generation).rejects.toMatchObject({ code: "disposed" });
    expect(() => apart.model.generate({ prompt: "again" })).toThrow(/disposed/);
  });

  it.runIf(process.platform === "linux")("gives up its rights, and gets no secrets", async () => {
    vi.stubEnv("INGLE_API_KEYS", "a-secret-of-the-server");
    await using apart = await loadApart();
    const about = async (file: string): Promise<string> =>
      await readFile(`/proc/${enginePid(apart.model)}/${file}`, "utf8");
    expect(await about("status")).toMatch(/^NoNewPrivs:\s1$[^]*^Seccomp:\s2$/m);
    expect(await about("environ")).not.toContain("secret");
    vi.stubEnv("INGLE_API_KEYS", undefined);
  });

  it.runIf(hasLandlock())("cannot write the model, nor read what it does not need", async () => {
    const folder = await mkdtemp(path.join(home, "read-only-"));
    const file = path.join(folder, "model.gguf");
    await makeTinyModel(file);
    vi.stubEnv("NODE_OPTIONS", `--import=${new URL("attempts-in-engine.js", import.meta.url).href}`);
    vi.stubEnv("ATTEMPTS_MODEL", file);
    const lines: string[] = [];
    await setLogSink((_, text) => lines.push(text));
    const cacheDir = path.join(folder, "state");
    const options = { threads: 1, contextLength: 64, cells: 64, parallel: 1, cacheDir, engine } as const;
    const apart = await load(file, options);
    await until(() => lines.some((line) => line.startsWith("attempts ")), 20_000);
    expect(lines).toContainEqual(expect.stringMatching(/restricts itself: system calls, files/));
    const found = lines.find((line) => line.startsWith("attempts "))?.slice("attempts ".length) ?? "";
    expect(JSON.parse(found)).toEqual({
      read: "EACCES",
      home: "EACCES",
      server: "EACCES",
      write: "EACCES",
      create: "EACCES",
      remove: "EACCES",
      rename: "EACCES",
      folder: "EACCES",
      mode: "EPERM",
      readOnThreads: ["EACCES"],
      writeOnThreads: ["EACCES"],
    });
    for (const prompt of ["one text ".repeat(10), "another text ".repeat(10)])
      await apart.model.generate({ prompt, maxTokens: 5 }); // the second evicts the first, whose state is kept
    expect((await apart.model.embed(["a text"])).embeddings).toHaveLength(1);
    await apart[Symbol.asyncDispose]();
    expect(await readdir(cacheDir)).toHaveLength(1);
    expect((await readdir(folder)).toSorted()).toEqual(["model.gguf", "state"]);
    await setLogSink(null);
    vi.stubEnv("NODE_OPTIONS", undefined);
  });

  it("ends when its load is aborted", async () => {
    const loading = loadApart({ signal: AbortSignal.timeout(20) });
    await expect(loading).rejects.toMatchObject({ name: "TimeoutError" });
  });
});

describe("a crash", () => {
  it.each(["SIGKILL", "SIGABRT", "SIGSEGV", "SIGSTOP"] as const)(
    "by %s costs only the replies that were seen",
    async (signal) => {
      await using apart = await loadApart({ parallel: 1, stepTimeoutMs: 1_000 });
      const crash = nextCrash(apart);
      const { generation: seen } = await streaming(apart);
      const waiting = apart.model.generate({ prompt: "hello", maxTokens: 5, ignoreEos: true });
      const vectors = apart.model.embed(["a text"]);
      await until(() => apart.model.stats().waiting === 1 && apart.model.stats().generatedTokens > 0);
      process.kill(enginePid(apart.model), signal);
      await expect(within(20_000, seen)).rejects.toMatchObject({ code: "engine_crashed" });
      expect((await within(20_000, waiting)).usage.completionTokens).toBe(5);
      expect((await vectors).embeddings).toHaveLength(1);
      const { report, stats, error } = await crash;
      expect(error.code).toBe("engine_crashed");
      expect(stats?.generatedTokens).toBeGreaterThan(0);
      expect(apart.model.process?.crashes).toBe(1);
      const file = await report;
      const text = await readFile(file, "utf8");
      expect(JSON.parse(text)).toMatchObject({
        ending: { isHung: signal === "SIGSTOP", signal: signal === "SIGSTOP" ? "SIGKILL" : signal },
        requests: expect.arrayContaining([expect.objectContaining({ kind: "generation", maxTokens: 2000 })]),
      });
      expect(text).not.toContain("on and on");
      if (process.platform !== "win32") expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect((await apart.model.generate({ prompt: "next", maxTokens: 3 })).usage.completionTokens).toBe(3);
    },
  );

  it("of an idle engine is noticed and repaired; blocks are reported anew", async () => {
    await using apart = await loadApart({ kvBlockSalt: "tiny" });
    const restated: boolean[] = [];
    using _follower = apart.model.followKvBlocks(({ isRestated }) => restated.push(isRestated));
    const crash = nextCrash(apart);
    process.kill(enginePid(apart.model), "SIGSEGV");
    await within(20_000, crash);
    restated.length = 0;
    await apart.model.generate({ prompt: "long enough for a block ".repeat(20), maxTokens: 3 });
    await expect.poll(() => restated).toContain(true);
  });

  it("keeps the draft model", async () => {
    const draftModel = await tinyModel({ weights: "f32" });
    await using apart = await loadApart({ draftModel });
    const crash = nextCrash(apart);
    process.kill(enginePid(apart.model), "SIGKILL");
    await within(20_000, crash);
    const { usage } = await apart.model.generate({ prompt: "one two", maxTokens: 20, temperature: 0 });
    expect(usage.draftedTokens).toBeGreaterThan(0);
  });

  it("loses the model if it cannot be loaded again", async () => {
    const folder = await mkdtemp(path.join(home, "moved-"));
    const file = path.join(folder, "model.gguf");
    await makeTinyModel(file);
    const apart = await load(file, { threads: 1, engine });
    await rename(file, `${file}.moved`);
    process.kill(enginePid(apart.model), "SIGKILL");
    const generation = apart.model.generate({ prompt: "a" });
    expect(await within(20_000, apart.model.lost)).toMatchObject({ code: "model_not_found" });
    await expect(generation).rejects.toMatchObject({
      code: expect.stringMatching(/engine_crashed|model_not_found/),
    });
    await expect(apart.model.generate({ prompt: "a" })).rejects.toMatchObject({ code: "model_not_found" });
    await apart[Symbol.asyncDispose]();
  });

  it("leaves at most 20 reports", async () => {
    expect((await readdir(path.join(home, "crash-reports"))).length).toBeLessThanOrEqual(20);
  });
});

describe("the process of an engine ends with its parent", () => {
  const source = (file: string, ending: string): string => `
    import { load } from ${JSON.stringify(new URL("../dist/index.js", import.meta.url).href)};
    const { model } = await load(${JSON.stringify(file)}, { threads: 1, engine: "process" });
    process.stdout.write(model.process.pid + "\\n");
    ${ending}`;
  const endless = `for await (const _ of model.generate({ prompt: "a", maxTokens: 2000, ignoreEos: true }));`;

  it.each([
    ["that has nothing left to do", `await model.generate({ prompt: "a", maxTokens: 3 });`, undefined],
    ["that exits", `setTimeout(() => process.exit(0), 100); ${endless}`, undefined],
    ["that is killed", endless, "SIGKILL"],
  ] as const)("%s", async (_, ending, signal) => {
    const text = source(await tinyModel(), ending);
    const parent = spawn(process.execPath, ["--input-type=module", "-e", text], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = new Promise((resolve) => parent.once("close", resolve));
    const pid = await new Promise<number>((resolve) =>
      parent.stdout.once("data", (line: Buffer) => resolve(Number(line.toString()))),
    );
    if (signal !== undefined) parent.kill(signal);
    await within(20_000, ended);
    await expect.poll(() => isRunning(pid)).toBe(false);
  });
});
