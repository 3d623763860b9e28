// Opens the store that the settings name.
import type { ServerConfig } from "../config.ts";
import { MemoryStore } from "./memory-store.ts";
import type { RecordStore, StoreLimits } from "./record-store.ts";
import { SqliteStore } from "./sqlite-store.ts";

/** Undefined if nothing should be stored. Throws ConfigError for a file that cannot be used. */
export async function openStore({
  store,
  countMax,
  sizeMaxMiB,
  ageMaxMs,
}: ServerConfig["responses"]): Promise<RecordStore | undefined> {
  const limits: StoreLimits = { countMax, bytesMax: sizeMaxMiB * 1024 * 1024, ageMaxMs };
  if (store === "none") return undefined;
  return store === "memory" ? new MemoryStore(limits) : SqliteStore.open(store, limits);
}
