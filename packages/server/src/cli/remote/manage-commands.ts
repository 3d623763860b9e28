// `ingle ps`, `ingle load` and `ingle unload`: list and change what a running server has in memory.
import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import type { ManagedModel, ManagedModelList } from "@ingle/protocol";
import { CliError, exitCodes } from "../errors.ts";
import { toFields } from "../../generation/sampling-fields.ts";
import type { CommandContext } from "../context.ts";
import { formatBytes, formatTable } from "../text.ts";
import { startProgress } from "../progress.ts";
import { settingRule } from "../../settings/resolve.ts";
import { settings } from "../../settings/settings.ts";
import { ownSettings } from "../../settings/own-settings.ts";
import { flagName, longFlag } from "../../settings/setting.ts";
import type { FlagsIn, loadFlags, psFlags, RemoteFlags } from "../command-flags.ts";
import { RemoteServer } from "./remote-server.ts";

/** How often the server is polled. */
const pollEveryMs = 250;

/** Lists models that are in memory or loading; with `--all` all that the server knows. Returns the exit code. */
export async function psCommand(flags: FlagsIn<typeof psFlags>, context: CommandContext): Promise<number> {
  const { data, memory } = await (await RemoteServer.find(flags, context)).models();
  const shown = flags.all === true ? data : data.filter(({ status }) => status !== "available");
  context.stdout.write(
    flags.json === true ? `${JSON.stringify(shown, undefined, 2)}\n` : modelTable(shown, memory),
  );
  return exitCodes.ok;
}

/** Returns when the model is loaded. Throws CliError if it cannot be. */
export async function loadCommand(
  model: string,
  flags: FlagsIn<typeof loadFlags>,
  context: CommandContext,
): Promise<number> {
  const server = await RemoteServer.find(flags, context);
  const request = {
    context_length: flags.ctx,
    kv_bits: flags.kvBits,
    kv_bits_k: flags.kvBitsK,
    kv_bits_v: flags.kvBitsV,
    chat_template: flags.chatTemplate ?? (await readTextFile(flags.chatTemplateFile)),
    sampling: toSamplingFields(flags),
    ...toOwnFields(flags),
  };
  const { id } = await server.request("load", model, request);
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

/** Defaults of the model's requests; undefined without flags for them. The server checks them. */
function toSamplingFields(flags: FlagsIn<typeof loadFlags>): object | undefined {
  const { noModelSampling: _, ...options } = settings.sampling;
  const given = Object.entries(options).map(([name, setting]) => [
    name,
    Reflect.get(flags, flagName(setting)),
  ]);
  const fields = toFields(Object.fromEntries(given));
  return Object.keys(fields).length === 0 ? undefined : fields;
}

/** The text of a file on this machine, which the server does not read. The server checks it. Throws CliError. */
async function readTextFile(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError(`--chat-template-file cannot be read: ${reason}`);
  }
}

/** Converts flags of devices and processors to fields of a load request. Throws CliError for an invalid value. */
function toOwnFields(flags: object): object {
  const fields: Record<string, unknown> = {};
  for (const { setting, field, isOpposite } of ownSettings) {
    const value: unknown = Reflect.get(flags, flagName(setting));
    if (value === undefined) continue;
    const checked = settingRule(setting).safeParse(value);
    if (!checked.success)
      throw new CliError(`${longFlag(setting)} ${checked.error.issues[0]?.message ?? "cannot be used"}.`);
    fields[field] = isOpposite ? checked.data !== true : checked.data;
  }
  return fields;
}

/** Returns when the model's memory is free; requests that use it finish first. */
export async function unloadCommand(
  model: string,
  flags: RemoteFlags,
  context: CommandContext,
): Promise<number> {
  const server = await RemoteServer.find(flags, context);
  const { id } = await server.request("unload", model);
  let hasLeft = false;
  const freed = await until(server, id, context, ({ status }) => {
    const isLeaving = status === "draining" || status === "unloading";
    if (status === "draining" && !hasLeft)
      context.stderr.write(`Waiting for the requests that use ${id} …\n`);
    hasLeft ||= isLeaving;
    if (isLeaving) return false;
    // A loading model is unloaded once it is loaded. A model that was unloaded may be loading again.
    return hasLeft || (status !== "preparing" && status !== "loading");
  });
  const isBack = freed.status !== "available" && freed.status !== "failed";
  context.stdout.write(
    isBack
      ? `${id} was unloaded, and is being loaded again for a new request.\n`
      : `${id} is not in memory.\n`,
  );
  return exitCodes.ok;
}

/** Polls the model until `isDone`. Throws what `isDone` throws, or the shutdown's reason. */
async function until(
  server: RemoteServer,
  id: string,
  { shutdown }: CommandContext,
  isDone: (model: ManagedModel) => boolean,
): Promise<ManagedModel> {
  for (;;) {
    const model = (await server.models()).data.find((each) => each.id === id);
    if (model === undefined) throw new CliError(`The server no longer knows ${id}.`);
    if (isDone(model)) return model;
    try {
      await pause(pollEveryMs, undefined, { signal: shutdown.signal });
    } catch (error) {
      shutdown.signal.throwIfAborted();
      throw error;
    }
  }
}

function modelTable(
  models: readonly ManagedModel[],
  { used_bytes, budget_bytes }: ManagedModelList["memory"],
): string {
  if (models.length === 0) return "No model is in memory.\n";
  const rows = models.map((model) => [
    model.id,
    statusText(model),
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

function statusText({ status, progress, pinned }: ManagedModel): string {
  const percent = progress === null ? "" : ` ${Math.floor(progress * 100)}%`;
  return `${status}${percent}${pinned ? ", pinned" : ""}`;
}
