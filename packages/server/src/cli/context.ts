// What a command needs from the world around it. main.ts hands in the process; tests hand in streams, a clock and a
// scripted engine. Engine and server come through functions, so that `ingle --version` loads neither.
import type { Readable } from "node:stream";
import type { Shutdown } from "./shutdown.ts";

/** Where text goes. A terminal (`isTTY`) gets bars and colours, anything else plain lines. */
export type TextOutput = NodeJS.WritableStream & { readonly isTTY?: boolean | undefined };

/** What the command line uses of the engine. */
export type Engine = Pick<
  typeof import("@ingle/engine"),
  | "ChatSession"
  | "EngineError"
  | "WorkerHost"
  | "addAlias"
  | "buildInfo"
  | "checkGenerationRequest"
  | "computeImatrix"
  | "defaultModel"
  | "describeModel"
  | "describeRepository"
  | "fetchModel"
  | "fitModel"
  | "forecastMemory"
  | "importModels"
  | "isRemovable"
  | "libraryPaths"
  | "listModels"
  | "keepMemoryTight"
  | "load"
  | "locateModel"
  | "makeWorkerKey"
  | "memoryBudget"
  | "memoryNeed"
  | "modelTraits"
  | "noteUse"
  | "parseWorkerKey"
  | "parseModelSpec"
  | "projectorInstalledWith"
  | "pruneLibrary"
  | "quantizeModel"
  | "readWorkerKey"
  | "registerModel"
  | "removeAlias"
  | "removeModel"
  | "searchModels"
  | "saveWorkerKey"
  | "starterModel"
  | "workerDevices"
  | "workerKeyFile"
>;

/** What the command line uses of the server. */
export type Server = Pick<typeof import("../serve.ts"), "serve">;

/** What it uses of the app. */
export type App = Pick<typeof import("../desktop-app.ts"), "openDesktopApp">;

/** What it uses of the person's browser. */
export type Browser = Pick<typeof import("./app/browser.ts"), "openPage">;

export interface CommandContext {
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined };
  /** Results: answers, addresses. */
  readonly stdout: TextOutput;
  /** Progress, hints and errors. */
  readonly stderr: TextOutput;
  readonly env: NodeJS.ProcessEnv;
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
  readonly shutdown: Shutdown;
  readonly engine: () => Promise<Engine>;
  readonly server: () => Promise<Server>;
  readonly app: () => Promise<App>;
  readonly browser: () => Promise<Browser>;
}
