// The child process of compare-addons.ts: loads a model with the addon that it is given, and measures its work at each message.
import { createRequire } from "node:module";
import { greedySampling, usualContext, usualEngine, weightsOnCpu } from "@ingle/fixtures/native-options";
import type { NativeEngine, NativeEvent, NativeModel, NativeRequest } from "@ingle/engine-native";
import { addonWork, type Work } from "./addon-work.ts";

type Addon = typeof import("@ingle/engine-native");

const [addonFile = "", modelFile = ""] = process.argv.slice(2);
const contextLength = 512;

/** Gets the events of the only request. */
let onEvent: (event: NativeEvent) => void = () => {};

async function createEngine(model: NativeModel): Promise<NativeEngine> {
  return await model.createEngine(
    {
      contextLength,
      cells: contextLength,
      parallel: 1,
      batchTokens: contextLength,
      threads: 1,
      threadsBatch: 1,
      ...usualContext,
      ...usualEngine,
      waitingMax: 1,
    },
    (events) => {
      for (const event of events) if (event.type !== "blocks") onEvent(event);
    },
  );
}

function makeRequest(tokens: Int32Array, maxTokens: number): NativeRequest {
  const rest = {
    images: null,
    stops: [],
    constraint: null,
    logprobs: -1,
    adapterScales: [],
    prediction: new Int32Array(),
    reportsPrompt: false,
    promptLogprobs: -1,
    idSlot: -1,
    cacheSalt: "",
    client: "",
    priority: 0,
    thought: { begin: "", ends: [], isOpen: false, tokensMax: -1, share: 0, closing: new Int32Array() },
  };
  return { tokens, sampling: greedySampling, maxTokens, ignoreEos: true, cachePrompt: false, ...rest };
}

/** Microseconds of this process's processor time. */
async function measureCpuTime(
  { promptTokens, replyTokens }: Work,
  engine: NativeEngine,
  text: Int32Array,
): Promise<number> {
  const start = process.cpuUsage();
  await new Promise<void>((resolve, reject) => {
    onEvent = (event) => {
      if (event.type === "finish") resolve();
      if (event.type === "error") reject(new Error(event.message));
    };
    engine.submit(makeRequest(text.subarray(0, promptTokens), replyTokens));
  });
  const { user, system } = process.cpuUsage(start);
  return user + system;
}

const addon: Addon = createRequire(import.meta.url)(addonFile);
const model = await addon.loadModel(weightsOnCpu(modelFile), () => undefined).model;
const engine = await createEngine(model);
const text = await model.tokenize(
  "The keeper of the lighthouse sees a ship and writes its name. ".repeat(60),
  {
    addSpecial: true,
    parseSpecial: false,
  },
);

async function measure(): Promise<Record<string, number>> {
  const times: Record<string, number> = {};
  for (const [name, work] of Object.entries(addonWork))
    times[name] = await measureCpuTime(work, engine, text);
  return times;
}

await measure(); // the first run reads the weights
process.on("message", () => void measure().then((times) => process.send?.(times)));
process.once("disconnect", () => {
  void engine.dispose().then(() => model.dispose());
});
process.send?.("ready");
