import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { greedySampling } from "@ingle/fixtures/native-options";
import {
  engineCrashed,
  requestShape,
  writeCrashReport,
  type CrashReport,
  type ProcessExit,
} from "./crash-report.ts";

let home = "";
beforeAll(async () => (home = await mkdtemp(path.join(tmpdir(), "ingle-reports-"))));
afterAll(async () => rm(home, { recursive: true }));

const ending: ProcessExit = { signal: "SIGSEGV", exitCode: null, isHung: false, log: ["a line"], stderr: "" };

it("has the shape of requests and none of their content", async () => {
  const shape = requestShape({
    tokens: Int32Array.of(4711, 4712),
    images: null,
    sampling: { ...greedySampling, logitBias: Float64Array.of(4713, 1) },
    maxTokens: 5,
    stops: ["a secret stop"],
    ignoreEos: false,
    cachePrompt: true,
    constraint: null,
    logprobs: -1,
    adapterScales: [],
    prediction: Int32Array.of(4714),
    reportsPrompt: false,
    promptLogprobs: -1,
    idSlot: -1,
    cacheSalt: "a secret salt",
    client: "a secret client",
    priority: 0,
    thought: { begin: "", ends: [], isOpen: false, tokensMax: -1, share: 0, closing: new Int32Array() },
  });
  expect(shape).toMatchObject({ promptTokens: 2, stops: 1, sampling: { logitBiases: 1 } });
  expect(JSON.stringify(shape)).not.toMatch(/secret|471/);
});

it("is only for its owner, and the oldest ones go", async () => {
  const report: CrashReport = {
    models: ["m.gguf"],
    pid: 7,
    uptimeMs: 1,
    ending,
    requests: [],
    stats: undefined,
  };
  const files: string[] = [];
  for (let second = 0; second < 23; second += 1)
    files.push(await writeCrashReport(report, { env: { INGLE_HOME: home }, now: new Date(second * 1000) }));
  const kept = await readdir(path.join(home, "crash-reports"));
  expect(kept.toSorted()).toEqual(files.slice(-20).map((file) => path.basename(file)));
  const last = files.at(-1) ?? "";
  expect(JSON.parse(await readFile(last, "utf8"))).toMatchObject({ pid: 7, ending: { signal: "SIGSEGV" } });
  if (process.platform !== "win32") expect((await stat(last)).mode & 0o777).toBe(0o600);
});

it.each([
  [{ ...ending }, /SIGSEGV/],
  [{ ...ending, signal: null, exitCode: 3 }, /exit code 3/],
  [{ ...ending, signal: "SIGKILL" as const }, /ran out of memory/],
  [{ ...ending, signal: "SIGKILL" as const, isHung: true }, /no progress/],
])("the error of %o says how the process ended", (how, words) => {
  expect(engineCrashed(how)).toMatchObject({ code: "engine_crashed", message: expect.stringMatching(words) });
});
