// `ingle doctor`: prints the build, machine, devices, folders and starter model of this installation, and how models would be
// placed in its memory.
import { stat } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { BuildInfo, DeviceInfo, Processors, ThreadChoice } from "@ingle/engine";
import type { doctorFlags, FlagsIn } from "../command-flags.ts";
import { exitCodes } from "../errors.ts";
import type { CommandContext, Engine } from "../context.ts";
import { formatBytes, formatColumns, formatTable } from "../text.ts";
import { ingleVersion } from "../../this-package.ts";
import { modelShares, type ModelShare } from "./model-shares.ts";
import { verifyCommand } from "./verify-command.ts";

type Row = readonly [name: string, value: string];

/** Everything that the command prints. */
interface Findings {
  /** Undefined if the native engine is missing. */
  build: BuildInfo | undefined;
  /** What to do about that. */
  problem: string | undefined;
  /** Undefined if the native engine is missing. */
  threads: ({ processors: Processors } & ThreadChoice) | undefined;
  modelsDir: string;
  starter: { id: string; sizeBytes: number; isThere: boolean };
  models: ModelShare[];
}

/** Returns the exit code: 1 if the native engine is missing, because then nothing can run; or that of `verifyCommand()`. */
export async function doctorCommand(
  model: string | undefined,
  { json, verify }: FlagsIn<typeof doctorFlags>,
  context: CommandContext,
): Promise<number> {
  if (verify === true) return await verifyCommand(json === true, context);
  const findings = await find(model, context);
  const { stdout, stderr } = context;
  stdout.write(json === true ? `${JSON.stringify(toJson(findings), undefined, 2)}\n` : toText(findings));
  if (findings.problem === undefined) return exitCodes.ok;
  stderr.write(`\n${findings.problem}\n`);
  return exitCodes.failure;
}

async function find(model: string | undefined, { engine: load, env }: CommandContext): Promise<Findings> {
  const engine = await load();
  const { libraryPaths, starterModel } = engine;
  const { modelsDir } = libraryPaths(env);
  const { build, problem } = await readBuild(engine);
  const { id, sizeBytes, fileName } = starterModel;
  const stats = await stat(path.join(modelsDir, fileName)).catch(() => undefined);
  const models = build === undefined ? [] : await modelShares(model, engine, env);
  return {
    build,
    problem,
    threads: build === undefined ? undefined : await engine.defaultThreads(),
    modelsDir,
    starter: { id, sizeBytes, isThere: stats?.size === sizeBytes },
    models,
  };
}

async function readBuild({ buildInfo, EngineError }: Engine): Promise<Pick<Findings, "build" | "problem">> {
  try {
    return { build: await buildInfo(), problem: undefined };
  } catch (error) {
    if (!EngineError.is(error) || error.code !== "native_missing") throw error;
    return { build: undefined, problem: error.message };
  }
}

function toText({ build, threads, modelsDir, starter, models }: Findings): string {
  const rows: Row[] = [
    ...machineRows(),
    ...(threads === undefined ? [] : [["threads", `${threads.threads}: ${threads.reason}`] as const]),
    ...(build === undefined ? [["engine", "not built"] as const] : buildRows(build)),
    ["models folder", modelsDir],
    [
      "starter model",
      `${starter.id}, ${formatBytes(starter.sizeBytes)}, ${starter.isThere ? "downloaded" : "not downloaded yet"}`,
    ],
  ];
  const table = [["MODEL", "WOULD GET"], ...models.map(({ id, summary }) => [id, summary])];
  return formatColumns(rows) + (models.length === 0 ? "" : `\n${formatTable(table)}`);
}

/** The fields of `--json`, which programs rely on. */
function toJson({ build, problem, threads, modelsDir, starter, models }: Findings) {
  return {
    ingle: ingleVersion(),
    node: process.version,
    platform: os.platform(),
    arch: os.arch(),
    threads: threads?.threads ?? null,
    threads_reason: threads?.reason ?? null,
    processors: threads === undefined ? null : processorsJson(threads.processors),
    memory_total_bytes: os.totalmem(),
    memory_free_bytes: os.freemem(),
    engine: build === undefined ? null : engineJson(build),
    problem: problem ?? null,
    devices: (build?.devices ?? []).map(({ name, type, backend, description, memoryTotal, memoryFree }) => ({
      name,
      type,
      backend,
      description: description.trim(),
      memory_total_bytes: memoryTotal,
      memory_free_bytes: memoryFree,
    })),
    models_folder: modelsDir,
    starter_model: { id: starter.id, size_bytes: starter.sizeBytes, downloaded: starter.isThere },
    models: models.map(({ id, summary, plan }) => ({
      id,
      summary,
      fits: plan !== undefined,
      context_length: plan?.contextLength ?? null,
      kv_cells: plan?.cells ?? null,
      layers: plan?.layersIn ?? null,
      cpu_moe_layers: plan?.cpuMoeLayers ?? null,
      memory_bytes: plan?.byMemory ?? null,
    })),
  };
}

function processorsJson({ logical, performanceCores, quota }: Processors) {
  return { logical, performance_cores: performanceCores, quota: quota ?? null };
}

function engineJson({ version, buildType, compiler, llamaCpp, gpu, cpu, cpuFeatures, kvTypes }: BuildInfo) {
  return {
    version,
    build_type: buildType,
    compiler,
    llama_cpp: { version: llamaCpp.version, commit: llamaCpp.commit },
    gpu,
    cpu,
    cpu_features: cpuFeatures,
    kv_types: kvTypes,
  };
}

function machineRows(): Row[] {
  return [
    ["ingle", ingleVersion()],
    ["node", process.version],
    ["system", `${os.platform()} ${os.release()} ${os.arch()}`],
    [
      "processor",
      `${os.cpus()[0]?.model.trim() ?? "unknown"}, ${os.availableParallelism()} logical processors`,
    ],
    ["memory", `${formatBytes(os.totalmem())}, ${formatBytes(os.freemem())} free`],
  ];
}

function buildRows(build: BuildInfo): Row[] {
  return [
    ["engine", `${build.version}, ${build.buildType}, ${build.compiler}`],
    ["llama.cpp", `${build.llamaCpp.version} (${build.llamaCpp.commit})`],
    ["GPU backend", gpuBackend(build)],
    ...build.devices.map((device): Row => ["device", describeDevice(device)]),
    ["CPU code", cpuCode(build.cpu)],
    ["CPU features", build.cpuFeatures.length === 0 ? "none" : build.cpuFeatures.join(" ")],
    ["KV cache types", build.kvTypes.join(" ")],
  ];
}

function gpuBackend({ gpu, devices }: BuildInfo): string {
  if (gpu === "cpu") return "none (built for the CPU only)";
  return devices.some(({ type }) => type === "gpu" || type === "igpu") ? gpu : `${gpu}, but it found no GPU`;
}

/** The processor that the engine's CPU code was compiled for: INGLE_CPU of its build. */
function cpuCode(cpu: string): string {
  if (cpu === "native") return "for the processor it was built on";
  return cpu === "all" ? "for all processors" : `for ${cpu}`;
}

function describeDevice({ name, description, backend, type, memoryFree, memoryTotal }: DeviceInfo): string {
  const memory = memoryTotal > 0 ? `, ${formatBytes(memoryTotal)}, ${formatBytes(memoryFree)} free` : "";
  return `${name} (${backend}, ${type}): ${description.trim()}${memory}`;
}
