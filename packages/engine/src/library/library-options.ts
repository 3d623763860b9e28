// The options of library calls: environment, functions that tests replace, and what is reported of downloads and conversions.
import { hostMemoryBytes } from "../machine/memory.ts";
import type { ConversionReport } from "@ingle/mlx";
import type { FreeBytes } from "./disk-space.ts";
import type { OnProgress } from "./progress.ts";
import type { Wait } from "./retry.ts";

export interface LibraryOptions {
  /** The variables for INGLE_HOME, HF_TOKEN, HF_ENDPOINT, proxies and npm's settings. Default: those of this process. */
  env?: NodeJS.ProcessEnv | undefined;
  /** Makes no network requests; missing models are then an error. Default: INGLE_OFFLINE or HF_HUB_OFFLINE. */
  isOffline?: boolean | undefined;
  /** The folder for npm's project settings and for relative paths. Default: the working directory. */
  cwd?: string | undefined;
  /** The memory to choose a model for. Default: the memory that this process may use. */
  memoryBytes?: number | undefined;
  /** Sleeping and checking the disk, replaced by tests. */
  wait?: Wait | undefined;
  freeBytes?: FreeBytes | undefined;
  signal?: AbortSignal | undefined;
}

/** The options of calls that download or convert a missing model. An abort keeps the downloaded part for the next call. */
export interface FetchOptions extends LibraryOptions {
  /** Called at most about ten times a second during a download or conversion; never if the model is already there. */
  onProgress?: OnProgress | undefined;
  /**
   * For a model in MLX's format: uses 16-bit floats if no block type of ggml holds the weights exactly. Default: the value of an
   * earlier conversion of the same folder, else false.
   */
  exact?: boolean | undefined;
  /**
   * Allows adapters, which are installed with a model. `base`: the id or an alias of that model. Default: the installed model that the
   * adapter was made for. `name`: the adapter's name in requests. Default: its repository's.
   */
  adapter?: { base?: string | undefined; name?: string | undefined } | undefined;
  /** Called with a report after a model in MLX's format was converted. */
  onConverted?: ((report: ConversionReport) => void) | undefined;
}

/** How the library identifies itself to registries and hubs. */
export const ingleAgent = `ingle node/${process.version}`;

/** Whether network requests are forbidden: by the option, or by Ingle's or the hub's variable. */
export function mustStayOffline({ env = process.env, isOffline = false }: LibraryOptions): boolean {
  const variables = [env["INGLE_OFFLINE"], env["HF_HUB_OFFLINE"]];
  return isOffline || variables.some((value = "") => /^(1|true|yes|on)$/i.test(value));
}

/** The machine's memory, or a container's limit. */
export function memoryLimit({ memoryBytes }: LibraryOptions): number {
  return memoryBytes ?? hostMemoryBytes();
}
