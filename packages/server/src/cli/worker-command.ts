// `ingle worker`: lends this machine's devices to a server on another machine, and pairs the two.
import { text } from "node:stream/consumers";
import type { WorkerEvent } from "@ingle/engine";
import { workerPortDefault } from "@ingle/engine/worker-address";
import { networkAddresses } from "../access/ip-address.ts";
import { resolveSettings } from "../settings/resolve.ts";
import type { ValuesOf } from "../settings/setting.ts";
import { CliError, exitCodes } from "./errors.ts";
import type { CommandContext, Engine } from "./context.ts";
import { formatBytes, formatColumns } from "./text.ts";
import { workerSettings, type WorkerFlags } from "./command-flags.ts";

const mebibyte = 1024 ** 2;

/** Returns the exit code. Throws ConfigError, CliError, what the engine throws and what listening throws. */
export async function workerCommand(flags: WorkerFlags, context: CommandContext): Promise<number> {
  const { env, stdout, shutdown } = context;
  const engine = await context.engine();
  const { keyFile = engine.workerKeyFile(env), ...settings } = resolveSettings(workerSettings, {
    flags,
    env,
  });
  if (typeof flags.pair === "string") return await takeKey(flags.pair, keyFile, context);
  const made = flags.pair === true ? await makeKey(keyFile, engine) : undefined;
  const key = await engine.readWorkerKey(keyFile);
  if (key.isOpenToOthers)
    context.stderr.write(
      `Other users of this machine can read the key in ${keyFile}. Run chmod 600 on it.\n`,
    );
  const host = await startHost(settings, key, context);
  await using _host = host;
  const rows = host.offers.map(({ name, description, bytes }): [string, string] => [
    `  ${name}`,
    `${description}, ${formatBytes(bytes)}`,
  ]);
  const parts = ["\nThis worker offers:\n", formatColumns(rows), addressText(settings.host, host.port)];
  if (made !== undefined) parts.push(pairText(made));
  stdout.write([...parts, "Press Ctrl-C to stop.\n"].join("\n"));
  await shutdown.requested();
  return exitCodes.ok;
}

async function startHost(
  {
    host,
    port = workerPortDefault,
    devices,
    memoryMiB,
    threads,
  }: Omit<ValuesOf<typeof workerSettings>, "keyFile">,
  key: Awaited<ReturnType<Engine["readWorkerKey"]>>,
  { engine, stdout }: CommandContext,
) {
  const { WorkerHost } = await engine();
  return await WorkerHost.start({
    key,
    host,
    port,
    threads,
    devices: devices.length === 0 ? undefined : devices,
    bytesMax: memoryMiB === undefined ? undefined : memoryMiB * mebibyte,
    onEvent: (event) => stdout.write(`${new Date().toISOString()} ${eventText(event)}\n`),
  });
}

/** The key of this machine; a new one if there is none. */
async function makeKey(keyFile: string, engine: Engine): Promise<string> {
  const present = await presentKey(keyFile, engine);
  if (present !== undefined) return present.text;
  const made = engine.makeWorkerKey();
  await engine.saveWorkerKey(keyFile, made);
  return made;
}

/** The key in the file; undefined without a file. */
async function presentKey(keyFile: string, { EngineError, readWorkerKey }: Engine) {
  try {
    return await readWorkerKey(keyFile);
  } catch (error) {
    if (EngineError.is(error) && error.details["isMissing"] === 1) return undefined;
    throw error;
  }
}

/** Saves the key of another machine. */
async function takeKey(
  given: string,
  keyFile: string,
  { engine: loadEngine, stdin, stdout }: CommandContext,
): Promise<number> {
  const engine = await loadEngine();
  const line = given === "-" ? await text(stdin) : given;
  const { id } = engine.parseWorkerKey(line);
  const present = await presentKey(keyFile, engine);
  if (present !== undefined && present.id !== id) {
    throw new CliError(
      `${keyFile} already holds a different key. Remove that file first, or choose another one with --key-file.`,
    );
  }
  await engine.saveWorkerKey(keyFile, line);
  stdout.write(`The key is saved in ${keyFile}. Next: ingle serve --rpc <address of the worker>\n`);
  return exitCodes.ok;
}

function pairText(key: string): string {
  return (
    "Run this once on the machine that serves. Anyone with the key can use this worker: keep it secret.\n\n" +
    `  ingle worker --pair ${key}\n`
  );
}

function addressText(host: string | undefined, port: number): string {
  const addresses = host === undefined ? ownAddresses() : [host];
  const shown = addresses.map((address) => `  ingle serve --rpc ${address}:${port}`).join("\n");
  return `On the machine that serves, run\n\n${shown}\n`;
}

/** Addresses by which other machines may reach this one. */
function ownAddresses(): string[] {
  const found = networkAddresses();
  return found.length > 0 ? found : ["127.0.0.1"];
}

function eventText(event: WorkerEvent): string {
  switch (event.kind) {
    case "refused":
      return `refused ${event.peer}: ${event.reason}`;
    case "connected":
      return `computes for ${event.host} (${event.peer})`;
    case "disconnected":
      return `disconnected ${event.peer}: ${event.reason}`;
    case "restarting":
      return `the compute process ended (${event.reason}); restarting in ${event.inMs / 1000} seconds`;
  }
}
