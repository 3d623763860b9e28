// The context of a command in tests: recording streams, a stopped clock, signals that the test sends, and a scripted engine.
import { EventEmitter } from "node:events";
import path from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import * as realEngine from "@ingle/engine";
import { scriptedModel } from "./harness/scripted-model.ts";
import type { Script } from "@ingle/fixtures/scripted-addon";
import type { CommandContext, Engine } from "../src/cli/context.ts";
import { Shutdown } from "../src/cli/shutdown.ts";
import { openDesktopApp } from "../src/desktop-app.ts";
import { serve } from "../src/serve.ts";

/** What the scripted library has installed, where a test wants a model. */
export const installedTiny: realEngine.InstalledModel = {
  id: "acme/tiny-GGUF:Q4_0",
  path: "/models/tiny.gguf",
  format: "gguf",
  sha256: null,
  quantization: "Q4_0",
  sizeBytes: 700,
  files: ["/models/tiny.gguf"],
  mmproj: null,
  place: "ingle",
  aliases: ["tiny"],
  adapters: [],
  addedAt: new Date(5_000),
  lastUsedAt: null,
};

export interface TestWorld {
  context: CommandContext;
  stdin: PassThrough & { isTTY?: boolean };
  /** Everything written so far. */
  out(): string;
  err(): string;
  /** Resolves once stdout (or stderr) has `text`; the test's time limit ends the wait. */
  outHas(text: string): Promise<void>;
  errHas(text: string): Promise<void>;
  signals: EventEmitter;
  exits: number[];
  clock: { ms: number };
  /** Addresses that were opened in a browser. */
  opened: string[];
}

/** `isTTY` makes all three streams terminals. */
export function testWorld(
  options: { engine?: Engine; isTTY?: boolean; env?: NodeJS.ProcessEnv; hasBrowser?: boolean } = {},
): TestWorld {
  const isTTY = options.isTTY ?? false;
  const stdin = Object.assign(new PassThrough(), { isTTY });
  const stdout = remembering(isTTY);
  const stderr = remembering(isTTY);
  const signals = new EventEmitter();
  const exits: number[] = [];
  const clock = { ms: 0 };
  const now = (): number => clock.ms;
  const opened: string[] = [];
  const openPage = async (address: string): Promise<void> => {
    if (options.hasBrowser === false) throw new Error("There is no browser.");
    opened.push(address);
  };
  const context: CommandContext = {
    stdin,
    stdout: stdout.stream,
    stderr: stderr.stream,
    logFormat: "text",
    env: options.env ?? {},
    now,
    shutdown: new Shutdown({ source: signals, exit: (code) => exits.push(code), now }),
    engine: async () => options.engine ?? realEngine,
    server: async () => ({ serve: (config, models) => serve(config, { ...models, logger: false }) }),
    app: async () => ({ openDesktopApp: (parts) => openDesktopApp({ ...parts, logger: false }) }),
    browser: async () => ({ openPage }),
  };
  const { text: out, has: outHas } = stdout;
  const { text: err, has: errHas } = stderr;
  return { context, stdin, out, err, outHas, errHas, signals, exits, clock, opened };
}

function remembering(isTTY: boolean) {
  let written = "";
  const stream = Object.assign(new PassThrough(), { isTTY });
  stream.on("data", (chunk: Buffer) => {
    written += chunk.toString();
  });
  const has = async (text: string): Promise<void> => {
    while (!written.includes(text)) await new Promise((resolve) => setTimeout(resolve, 2));
  };
  return { stream, has, text: () => written };
}

/** A library folder that cannot be written, so that tests of other commands leave nothing behind. */
const noHome = path.join(fileURLToPath(import.meta.url), "ingle");

/** The engine without native code: every load returns the scripted model, and the starter model is downloaded. */
export function scriptedEngine(script: Script = {}, overrides: Partial<Engine> = {}): Engine {
  return {
    ...realEngine,
    buildInfo: async () => ({
      version: "0.1.0",
      llamaCpp: { version: "v0.5.0", commit: "de3ff815", sources: "5ca1ab1e" },
      gpu: "cpu",
      compiler: "GNU 12.2.0",
      cpu: "native",
      buildType: "Release",
      devices: [
        {
          name: "CPU",
          description: "A processor",
          backend: "CPU",
          type: "cpu",
          memoryFree: 1024 ** 3,
          memoryTotal: 2 * 1024 ** 3,
        },
      ],
      cpuFeatures: ["AVX2", "FMA"],
      performanceCores: 0,
      kvTypes: ["f16", "q8_0"],
    }),
    defaultThreads: async () => ({
      threads: 4,
      reason: "one per performance core",
      processors: { logical: 12, performanceCores: 4 },
    }),
    defaultModel: async () => ({
      located: { kind: "npm", id: realEngine.starterModel.id, model: realEngine.starterModel },
      reason: "starter",
      lost: [],
      starterReason: { why: "memory" },
    }),
    locateModel: async (text, options) =>
      text === realEngine.starterModel.id
        ? { kind: "npm", id: text, model: realEngine.starterModel }
        : realEngine.locateModel(text, options),
    fetchModel: async (located) => (located.kind === "file" ? located.path : "/models/starter.gguf"),
    recordUse: async () => true,
    // Without its own home folder, a test would list this machine's models.
    listModels: async (options) =>
      options?.env?.["INGLE_HOME"] === undefined ? [] : realEngine.listModels(options),
    findInstalledProjector: async () => undefined,
    findInstalledAdapters: async () => [],
    libraryPaths: (env) => realEngine.libraryPaths({ INGLE_HOME: noHome, ...env }),
    fitModel: async (_file, options) => ({
      options: { ...options, contextLength: options.contextLength ?? 2048, cells: 2048 },
      isReduced: false,
      isDefault: true,
      summary: "on the processor",
      layersIn: { host: 2 },
      cpuMoeLayers: 0,
      footprint: { weightsBytes: 700, contextBytes: 200, computeBytes: 100, byMemory: { host: 1000 } },
    }),
    load: async (_file, options) => {
      options?.signal?.throwIfAborted();
      options?.onProgress?.(1);
      const { model } = await scriptedModel(script);
      return {
        model,
        tokenizer: model.tokenizer,
        processor: model.processor,
        [Symbol.asyncDispose]: () => model[Symbol.asyncDispose](),
      };
    },
    ...overrides,
  };
}
