// What models may take of this machine, by its size or as the person said. Used by serve, run and chat.
import type { MemoryBudget } from "@ingle/engine";
import type { ServerConfig } from "../../config.ts";
import type { Engine } from "../context.ts";

const mebibyte = 1024 ** 2;

/** Undefined where the person wants no accounting. Throws `native_missing`, and what workers throw that cannot be had. */
export async function modelBudget(
  { memoryBudgetMiB }: Pick<ServerConfig["models"], "memoryBudgetMiB">,
  { buildInfo, memoryBudget, workerDevices }: Pick<Engine, "buildInfo" | "memoryBudget" | "workerDevices">,
  rpc?: ServerConfig["engine"]["rpc"],
): Promise<MemoryBudget | undefined> {
  if (memoryBudgetMiB === 0) return undefined;
  const { devices } = await buildInfo();
  const remote = rpc === undefined ? [] : await workerDevices(rpc);
  return memoryBudget(
    [...devices, ...remote],
    memoryBudgetMiB === undefined ? undefined : memoryBudgetMiB * mebibyte,
  );
}
