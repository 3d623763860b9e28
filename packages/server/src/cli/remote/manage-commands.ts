// `ingle ps`, `ingle load` and `ingle unload`: what a running server has in memory, and the orders to change that.
import { setTimeout as pause } from "node:timers/promises";
import type { ManagedModel, ManagedModelList } from "@ingle/protocol";
import { CliError, exitCodes } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { formatBytes } from "../../format-bytes.ts";
import { formatTable } from "../text.ts";
import { startProgress } from "../progress.ts";
import { RemoteServer, type RemoteFlags } from "./remote-server.ts";

/** How often the server is asked how far it is. */
const askEveryMs = 250;

/** Lists what is in memory or on its way; `--all` also what could be. Returns the exit code. */
export async function psCommand(
  flags: RemoteFlags & { all?: boolean; json?: boolean },
  context: CommandContext,
): Promise<number> {
  const { data, memory } = await (await RemoteServer.find(flags, context)).models();
  const shown = flags.all === true ? data : data.filter(({ status }) => status !== "available");
  context.stdout.write(
    flags.json === true ? `${JSON.stringify(shown, undefined, 2)}\n` : tableOf(shown, memory),
  );
  return exitCodes.ok;
}

/** How the model is loaded; what is absent is as the server was told. */
export interface LoadFlags extends RemoteFlags {
  ctx?: number;
  kvBits?: number;
  kvBitsK?: number;
  kvBitsV?: number;
}

/** Returns when the model is loaded. Throws CliError with what keeps it from being so. */
export async function loadCommand(
  model: string,
  { ctx, kvBits, kvBitsK, kvBitsV, ...flags }: LoadFlags,
  context: CommandContext,
): Promise<number> {
  const server = await RemoteServer.find(flags, context);
  const settings = { context_length: ctx, kv_bits: kvBits, kv_bits_k: kvBitsK, kv_bits_v: kvBitsV };
  const { id } = await server.order("load", model, settings);
  using progress = startProgress(`Loading ${id}`, context);
  const loaded = await until(server, id, context, (now) => {
    if (now.status === "failed") throw new CliError(now.error ?? `${id} could not be loaded.`);
    progress.update(now.progress ?? 0);
    return now.status === "loaded";
  });
  const memory = loaded.memory_bytes === null ? "" : `, ${formatBytes(loaded.memory_bytes)}`;
  context.stdout.write(`${id} is loaded${memory}.\n`);
  return exitCodes.ok;
}

/** Returns when the model's memory is free again: requests that use it come to their end before. */
export async function unloadCommand(
  model: string,
  flags: RemoteFlags,
  context: CommandContext,
): Promise<number> {
  const server = await RemoteServer.find(flags, context);
  const { id } = await server.order("unload", model);
  let isOnItsWay = false;
  const freed = await until(server, id, context, ({ status }) => {
    const isLeaving = status === "draining" || status === "unloading";
    if (status === "draining" && !isOnItsWay)
      context.stderr.write(`Waiting for the requests that use ${id} …\n`);
    isOnItsWay ||= isLeaving;
    if (isLeaving) return false;
    // A model that is on its way into memory is freed as soon as it is there; one that has left may be coming back.
    return isOnItsWay || (status !== "preparing" && status !== "loading");
  });
  const isThere = freed.status !== "available" && freed.status !== "failed";
  context.stdout.write(
    isThere
      ? `${id} was freed, and is loaded again: somebody has asked for it.\n`
      : `${id} is not in memory.\n`,
  );
  return exitCodes.ok;
}

/** Asks again and again until it is so. Throws what `isSo` throws, or the shutdown's reason. */
async function until(
  server: RemoteServer,
  id: string,
  { shutdown }: CommandContext,
  isSo: (model: ManagedModel) => boolean,
): Promise<ManagedModel> {
  for (;;) {
    const model = (await server.models()).data.find((each) => each.id === id);
    if (model === undefined) throw new CliError(`The server does not know ${id} any more.`);
    if (isSo(model)) return model;
    try {
      await pause(askEveryMs, undefined, { signal: shutdown.signal });
    } catch (error) {
      shutdown.signal.throwIfAborted();
      throw error;
    }
  }
}

function tableOf(
  models: readonly ManagedModel[],
  { used_bytes, budget_bytes }: ManagedModelList["memory"],
): string {
  if (models.length === 0) return "No model is in memory.\n";
  const rows = models.map((model) => [
    model.id,
    statusOf(model),
    model.memory_bytes === null ? "" : formatBytes(model.memory_bytes),
    `${model.running} running, ${model.waiting} waiting`,
    model.context_length === null ? "" : `${model.context_length}`,
    model.kv_bytes_per_token === null ? "" : formatBytes(1000 * model.kv_bytes_per_token),
  ]);
  const budget = budget_bytes === null ? "" : ` of ${formatBytes(budget_bytes)}`;
  return (
    formatTable([["MODEL", "STATUS", "MEMORY", "REQUESTS", "CONTEXT", "PER 1,000 TOKENS"], ...rows]) +
    `\n${formatBytes(used_bytes)}${budget} for models.\n`
  );
}

function statusOf({ status, progress, pinned }: ManagedModel): string {
  const percent = progress === null ? "" : ` ${Math.floor(progress * 100)}%`;
  return `${status}${percent}${pinned ? ", pinned" : ""}`;
}
