// The child process of compare-addons.ts: loads a model with the addon that it is given, and measures its work at each message.
import { createRequire } from "node:module";
import { usualContext } from "@ingle/engine/testing/native-context";
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
      batchTokensBusy: 0,
      threads: 1,
      threadsBatch: 1,
      ...usualContext,
      waitingMax: 1,
      contextOverflow: "length",
      speculation: "off",
      draftTokens: 1,
      cacheRamBytes: 0,
      checkpointBytes: 0,
      stateFile: "",
      stateKey: new Uint8Array(32),
      kvBlockTokens: 0,
      kvBlockSeed: new Uint8Array(8),
    },
    (events) => {
      for (const event of events) if (event.type !== "blocks") onEvent(event);
    },
  );
}

function requestOf(tokens: Int32Array, maxTokens: number): NativeRequest {
  const sampling = {
    temperature: 0,
    topK: 0,
    topP: 1,
    minP: 0,
    repeatPenalty: 1,
    repeatLastN: 0,
    presencePenalty: 0,
    frequencyPenalty: 0,
    seed: 1,
    logitBias: new Float64Array(),
  };
  const rest = { images: null, stops: [], constraint: null, logprobs: -1, client: "" };
  return { tokens, sampling, maxTokens, ignoreEos: true, cachePrompt: false, ...rest };
}

/** Microseconds of this process's processor time. */
async function timeOf(
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
    engine.submit(requestOf(text.subarray(0, promptTokens), replyTokens));
  });
  const { user, system } = process.cpuUsage(start);
  return user + system;
}

const addon: Addon = createRequire(import.meta.url)(addonFile);
const weights = {
  path: modelFile,
  gpuLayers: 0,
  mmap: true,
  mlock: false,
  placement: null,
  projector: null,
  workers: [],
};
const model = await addon.loadModel(weights, () => undefined).model;
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
  for (const [name, work] of Object.entries(addonWork)) times[name] = await timeOf(work, engine, text);
  return times;
}

await measure(); // the first run reads the weights
process.on("message", () => void measure().then((times) => process.send?.(times)));
process.once("disconnect", () => {
  void engine.dispose().then(() => model.dispose());
});
process.send?.("ready");
