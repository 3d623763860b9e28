// `ingle worker`: lends this machine's devices to a server on another one, and pairs the two machines.
import { text } from "node:stream/consumers";
import type { WorkerEvent } from "@ingle/engine";
import { workerPortDefault } from "@ingle/engine/worker-address";
import { networkAddresses } from "../address.ts";
import { formatBytes } from "../format-bytes.ts";
import { CliError, exitCodes, usageError } from "./cli-error.ts";
import type { CommandContext, Engine } from "./context.ts";
import { formatColumns } from "./text.ts";

export interface WorkerFlags {
  /** True without a key: make one, and be a worker. With one: take it. */
  pair?: true | string;
  host?: string;
  port?: number;
  device?: string[];
  /** MiB on each device. */
  memory?: number;
  threads?: number;
  keyFile?: string;
}

/** What the environment gives in the place of `--key-file`; `ingle serve` reads the same one. */
const keyFileVariable = "INGLE_RPC_KEY_FILE";
const mebibyte = 1024 ** 2;
/** ggml takes no more. */
const threadsMax = 512;

/** Returns the exit code. Throws ConfigError, CliError, what the engine throws and what listening throws. */
export async function workerCommand(flags: WorkerFlags, context: CommandContext): Promise<number> {
  const { env, stdout, shutdown } = context;
  const engine = await context.engine();
  const variable = env[keyFileVariable] ?? "";
  const keyFile = flags.keyFile ?? (variable === "" ? engine.workerKeyFile(env) : variable);
  if (typeof flags.pair === "string") return await takeKey(flags.pair, keyFile, context);
  const made = flags.pair === true ? await makeKey(keyFile, engine) : undefined;
  const key = await engine.readWorkerKey(keyFile);
  if (key.isOpenToOthers)
    context.stderr.write(
      `Other users of this machine can read the key in ${keyFile}; chmod 600 keeps them out.\n`,
    );
  const host = await startHost(flags, key, context);
  await using _host = host;
  const rows = host.offers.map(({ name, description, bytes }): [string, string] => [
    `  ${name}`,
    `${description}, ${formatBytes(bytes)}`,
  ]);
  const parts = ["\nThis worker offers:\n", formatColumns(rows), addressText(flags.host, host.port)];
  if (made !== undefined) parts.push(pairText(made));
  stdout.write([...parts, "Press Ctrl-C to stop.\n"].join("\n"));
  await shutdown.requested();
  return exitCodes.ok;
}

async function startHost(
  { host, port = workerPortDefault, device, memory, threads }: WorkerFlags,
  key: Awaited<ReturnType<Engine["readWorkerKey"]>>,
  { engine, stdout }: CommandContext,
) {
  if (port < 0 || port > 65_535) throw usageError("--port must be 0 to 65535.");
  if (memory !== undefined && memory < 1) throw usageError("--memory must be at least 1 MiB.");
  if (threads !== undefined && (threads < 1 || threads > threadsMax))
    throw usageError(`--threads must be 1 to ${threadsMax}.`);
  const { WorkerHost } = await engine();
  return await WorkerHost.start({
    key,
    host,
    port,
    threads,
    devices: device,
    bytesMax: memory === undefined ? undefined : memory * mebibyte,
    onEvent: (event) => stdout.write(`${new Date().toISOString()} ${eventText(event)}\n`),
  });
}

/** The key of this machine: the one that it has, or a new one. */
async function makeKey(keyFile: string, engine: Engine): Promise<string> {
  const present = await presentKey(keyFile, engine);
  if (present !== undefined) return present.text;
  const made = engine.makeWorkerKey();
  await engine.saveWorkerKey(keyFile, made);
  return made;
}

/** What the file holds; undefined without a file. */
async function presentKey(keyFile: string, { EngineError, readWorkerKey }: Engine) {
  try {
    return await readWorkerKey(keyFile);
  } catch (error) {
    if (EngineError.is(error) && error.details["isMissing"] === 1) return undefined;
    throw error;
  }
}

/** Keeps the key of another machine. */
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
      `${keyFile} holds another key, which other machines may share. Remove it first, or name another file with --key-file.`,
    );
  }
  await engine.saveWorkerKey(keyFile, line);
  stdout.write(`The key is in ${keyFile}. Now: ingle serve --rpc <address of the worker>\n`);
  return exitCodes.ok;
}

function pairText(key: string): string {
  return (
    "On the machine that serves, run this once. Whoever has the key can use this worker: show it to nobody else.\n\n" +
    `  ingle worker --pair ${key}\n`
  );
}

function addressText(host: string | undefined, port: number): string {
  const addresses = host === undefined ? ownAddresses() : [host];
  const shown = addresses.map((address) => `  ingle serve --rpc ${address}:${port}`).join("\n");
  return `The machine that serves reaches it with\n\n${shown}\n`;
}

/** Those that another machine may know this one by. */
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
      return `${event.peer} is gone: ${event.reason}`;
    case "restarting":
      return `the computing process ended (${event.reason}); the next one starts in ${event.inMs / 1000} seconds`;
  }
}
