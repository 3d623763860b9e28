// The options of every library call: environment, and functions that tests replace.
import { hostMemoryBytes } from "../memory.ts";
import type { FreeBytes } from "./disk-space.ts";
import { isOffline } from "./hub/hub-settings.ts";
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

/** How the library identifies itself to registries and hubs. */
export const ingleAgent = `ingle node/${process.version}`;

/** Whether network requests are forbidden. */
export function mustStayOffline({ env = process.env, isOffline: given }: LibraryOptions): boolean {
  return given === true || isOffline(env);
}

/** The machine's memory, or a container's limit. */
export function memoryOf({ memoryBytes }: LibraryOptions): number {
  return memoryBytes ?? hostMemoryBytes();
}
