// `ingle doctor`: build, machine, devices, folders and starter model of this installation.
import { stat } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { BuildInfo, DeviceInfo } from "@ingle/engine";
import { exitCodes } from "./errors.ts";
import type { CommandContext, Engine } from "./context.ts";
import { modelBudget } from "./model/open-model.ts";
import { formatBytes, formatColumns } from "./text.ts";
import { ingleVersion } from "../version.ts";

type Row = readonly [name: string, value: string];

/**
 * With a model that is on this machine, also what loading it would get. Returns the exit code: 1 when the native engine is missing,
 * because then nothing can run.
 */
export async function doctorCommand(model: string | undefined, context: CommandContext): Promise<number> {
  const engine = await context.engine();
  const { stdout, stderr, env } = context;
  const native = await nativeRows(engine);
  const rows = [...machineRows(), ...native.rows, ...(await libraryRows(engine, env))];
  if (model !== undefined && native.problem === undefined)
    rows.push(["the model gets", await shareOf(model, engine, env)]);
  stdout.write(formatColumns(rows));
  if (native.problem === undefined) return exitCodes.ok;
  stderr.write(`\n${native.problem}\n`);
  return exitCodes.failure;
}

/** What a model would get of the devices' memory if nothing else was loaded, or why it gets nothing. */
async function shareOf(model: string, engine: Engine, env: NodeJS.ProcessEnv): Promise<string> {
  const { EngineError, fitModel, listModels, locateModel } = engine;
  const located = await locateModel(model, { env, isOffline: true });
  const file =
    located.kind === "file"
      ? located.path
      : (await listModels({ env })).find(({ id }) => id === located.id)?.path;
  if (file === undefined) return `${located.id} is not on this machine yet: download it first.`;
  const budget = await modelBudget({ memoryBudgetMiB: undefined }, engine);
  if (budget === undefined) return "unknown";
  try {
    return (await fitModel(file, {}, { budget })).summary;
  } catch (error) {
    if (EngineError.is(error) && error.code === "out_of_memory") return error.message;
    throw error;
  }
}

function machineRows(): Row[] {
  return [
    ["ingle", ingleVersion()],
    ["node", process.version],
    ["system", `${os.platform()} ${os.release()} ${os.arch()}`],
    ["processor", `${os.cpus()[0]?.model.trim() ?? "unknown"}, ${os.availableParallelism()} threads usable`],
    ["memory", `${formatBytes(os.totalmem())}, ${formatBytes(os.freemem())} free`],
  ];
}

async function nativeRows({ buildInfo, EngineError }: Engine): Promise<{ rows: Row[]; problem?: string }> {
  try {
    return { rows: buildRows(await buildInfo()) };
  } catch (error) {
    if (!EngineError.is(error) || error.code !== "native_missing") throw error;
    return { rows: [["engine", "not built"]], problem: error.message };
  }
}

function buildRows(build: BuildInfo): Row[] {
  return [
    ["engine", `${build.version}, ${build.buildType}, ${build.compiler}`],
    ["llama.cpp", `${build.llamaCpp.version} (${build.llamaCpp.commit})`],
    ["GPU backend", build.gpu === "cpu" ? "none (built for the CPU only)" : build.gpu],
    ...build.devices.map((device): Row => ["device", describeDevice(device)]),
    ["CPU code", cpuCode(build.cpu)],
    ["CPU features", build.cpuFeatures.length === 0 ? "none" : build.cpuFeatures.join(" ")],
    ["KV cache types", build.kvTypes.join(" ")],
  ];
}

/** What the engine's CPU code was compiled for: INGLE_CPU of its build. */
function cpuCode(cpu: string): string {
  if (cpu === "native") return "for the processor it was built on";
  return cpu === "all" ? "for all processors" : `for ${cpu}`;
}

function describeDevice({ name, description, backend, type, memoryFree, memoryTotal }: DeviceInfo): string {
  const memory = memoryTotal > 0 ? `, ${formatBytes(memoryTotal)}, ${formatBytes(memoryFree)} free` : "";
  return `${name} (${backend}, ${type}): ${description.trim()}${memory}`;
}

async function libraryRows({ libraryPaths, starterModel }: Engine, env: NodeJS.ProcessEnv): Promise<Row[]> {
  const { modelsDir } = libraryPaths(env);
  const stats = await stat(path.join(modelsDir, starterModel.fileName)).catch(() => undefined);
  const isThere = stats?.size === starterModel.sizeBytes;
  const size = formatBytes(starterModel.sizeBytes);
  return [
    ["models folder", modelsDir],
    ["starter model", `${starterModel.id}, ${size}, ${isThere ? "downloaded" : "not downloaded yet"}`],
  ];
}
