// What every call of the library takes: the surroundings it reads, and what tests own instead of the machine.
import { hostMemoryBytes } from "../memory.ts";
import type { FreeBytes } from "./disk-space.ts";
import { isOffline } from "./hub/hub-settings.ts";
import type { Wait } from "./retry.ts";

export interface LibraryOptions {
  /** Where INGLE_HOME, HF_TOKEN, HF_ENDPOINT, proxies and npm's settings are read from. Default: this process's. */
  env?: NodeJS.ProcessEnv | undefined;
  /** Asks nobody over the network; what is not there is then an error. Default: INGLE_OFFLINE or HF_HUB_OFFLINE. */
  isOffline?: boolean | undefined;
  /** Whose npm settings hold, and where relative paths begin. Default: the folder of this process. */
  cwd?: string | undefined;
  /** Memory that a model may be chosen for. Default: what this process may use. */
  memoryBytes?: number | undefined;
  /** Sleeping and looking at the disk, handed in by tests. */
  wait?: Wait | undefined;
  freeBytes?: FreeBytes | undefined;
  signal?: AbortSignal | undefined;
}

/** Whether the network may not be asked. */
export function mustStayOffline({ env = process.env, isOffline: said }: LibraryOptions): boolean {
  return said === true || isOffline(env);
}

/** The machine's memory, or what a container leaves of it. */
export function memoryOf({ memoryBytes }: LibraryOptions): number {
  return memoryBytes ?? hostMemoryBytes();
}
