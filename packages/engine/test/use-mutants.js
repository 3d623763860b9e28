// Uses model files one after the other, in every way that a caller can: the child process of mutant-user.ts, which must not crash. Reads
// one path per line and prints a line of JSON for each: the outcome of every use, "ok" or the error's code and message, and the peak
// memory, in KiB. Uses the build.
import { readFileSync, writeFileSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { readGguf } from "@ingle/gguf";
import { fitModel } from "../dist/load/fit.js";
import { load } from "../dist/load.js";

const options = { gpuLayers: 0, parallel: 2, threads: 1, contextLength: 96, batchTokens: 32 };
const budget = { byMemory: { host: 2 ** 30 } };
const messages = [{ role: "user", content: "Hi 12 \u{1F600}!" }];

async function runUse(use) {
  try {
    await use();
    return { code: "ok" };
  } catch (error) {
    return { code: error.code ?? "none", message: error.code === undefined ? error.stack : error.message };
  }
}

async function useAll(path) {
  const outcomes = {};
  outcomes.header = await runUse(() => readGguf(path));
  outcomes.fit = await runUse(() => fitModel(path, options, { budget }));
  let loaded;
  outcomes.load = await runUse(async () => {
    loaded = await load(path, options);
  });
  if (loaded === undefined) return outcomes;
  const { model, tokenizer } = loaded;
  let tokens = [0, 1, 2];
  outcomes.tokenize = await runUse(async () => {
    tokens = await tokenizer.encode("<s>Hello there, 12 rivers \u{1F600}!");
    await tokenizer.decode(tokens, { specials: true });
    await tokenizer.pieces(tokens);
  });
  outcomes.template = await runUse(() => tokenizer.applyChatTemplate(messages));
  const greedy = { maxTokens: 4, temperature: 0, ignoreEos: true };
  outcomes.generate = await runUse(() => model.generate({ ...greedy, prompt: [...tokens] }));
  outcomes.chat = await runUse(() =>
    model.generate({ messages, maxTokens: 3, responseFormat: { type: "json" } }),
  );
  outcomes.embed = await runUse(() => model.embed(["Hello there", "12 rivers"]));
  await loaded[Symbol.asyncDispose]();
  return outcomes;
}

/** The peak memory since the last call; 0 if the system does not report it. */
function peakKiB() {
  if (process.platform !== "linux") return 0;
  const peak = /VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "latin1"));
  writeFileSync("/proc/self/clear_refs", "5");
  return Number(peak?.[1] ?? 0);
}

for await (const path of createInterface({ input: process.stdin })) {
  peakKiB();
  const outcomes = await useAll(path);
  writeSync(1, `${JSON.stringify({ outcomes, peakKiB: peakKiB() })}\n`);
}
