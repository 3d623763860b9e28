// `ingle pull MODEL` downloads a model; `ingle import PATH` adds model files of the user's own.
import type { InstalledModel, LocatedModel } from "@ingle/engine";
import type { CommandContext } from "../context.ts";
import { exitCodes, usageError } from "../errors.ts";
import { chooseModel } from "../model/choose-model.ts";
import { conversionText, fetchWithBars, PhaseBars } from "../model/fetch-model.ts";
import { formatBytes, formatColumns } from "../text.ts";
import type { FlagsIn, importFlags, pullFlags } from "../command-flags.ts";

/** Prints what the model is on stderr, and its path on stdout. Returns the exit code. Throws the engine's errors. */
export async function pullCommand(
  model: string,
  flags: FlagsIn<typeof pullFlags>,
  context: CommandContext,
): Promise<number> {
  const { addAlias, listModels, parseModelSpec } = await context.engine();
  const { env, stdout, stderr, shutdown } = context;
  const { offline = false, exact, alias, base } = flags;
  if (parseModelSpec(model).kind === "file")
    throw usageError(`${model} is already on this machine; \`ingle import\` adds it to the library.`);
  const located = await chooseModel({ model, offline }, context);
  if (located.kind === "file") stderr.write(`${located.id} is already downloaded.\n`);
  if (located.kind === "hub") stderr.write(await describe(located, context));
  const adapter = { base, name: alias };
  if (located.kind !== "adapter" && base !== undefined)
    throw usageError(`--base is for adapters, and ${located.id} is a model.`);
  const file = await fetchWithBars(located, context, { offline, exact, adapter, signal: shutdown.signal });
  if (located.kind === "adapter") {
    stderr.write(
      `${await readAdapterId(file, context)} is ready: its model is loaded with it from now on.\n`,
    );
  } else if (alias !== undefined) await addAlias(alias, located.id, { env });
  const digest = (await listModels({ env })).find(({ path }) => path === file)?.sha256 ?? null;
  if (digest !== null) stderr.write(`SHA-256 ${digest}\n`);
  stdout.write(`${file}\n`);
  return exitCodes.ok;
}

/** The name of an installed adapter in requests. */
async function readAdapterId(file: string, { engine, env }: CommandContext): Promise<string> {
  const { listModels } = await engine();
  const adapters = (await listModels({ env })).flatMap((model) => model.adapters);
  return adapters.find((adapter) => adapter.path === file)?.id ?? file;
}

/** From the header of the file on the hub, before its weights are downloaded. */
async function describe(
  located: Extract<LocatedModel, { kind: "hub" }>,
  { engine, env, shutdown }: CommandContext,
): Promise<string> {
  const { describeModel, memoryNeed } = await engine();
  const { repository, group } = located.found;
  const facts = await describeModel(located.found, { env, signal: shutdown.signal });
  const context =
    facts.contextLength === undefined ? "unknown" : `${facts.contextLength.toLocaleString("en-US")} tokens`;
  return formatColumns([
    ["model", located.id],
    ["architecture", facts.architecture],
    ["quantization", facts.quantization ?? "unknown"],
    ["context", context],
    ["license", repository.license ?? "unknown"],
    ["download", formatBytes(group.sizeBytes + (group.mmproj?.sizeBytes ?? 0))],
    ["memory", `about ${formatBytes(memoryNeed(group.sizeBytes, facts))}`],
  ]);
}

/** With `--from`, `path` is the name of one of that program's models, or undefined for all. Returns the exit code. Throws CliError and the engine's errors. */
export async function importCommand(
  path: string | undefined,
  { from, ...flags }: FlagsIn<typeof importFlags>,
  context: CommandContext,
): Promise<number> {
  if (from !== undefined) {
    const unused = Object.entries(flags).find(([, value]) => value !== undefined);
    if (unused !== undefined) throw usageError(`--${unused[0]} cannot be combined with --from.`);
    return await (await import("./take-over.ts")).takeOverCommand(from, path, context);
  }
  if (path === undefined)
    throw usageError("Name a file or a folder, or another program with --from ollama or --from lm-studio.");
  return await importPath(path, flags, context);
}

/** Prints each model's id and path. */
async function importPath(
  path: string,
  flags: Omit<FlagsIn<typeof importFlags>, "from">,
  context: CommandContext,
): Promise<number> {
  const { importModels } = await context.engine();
  const { env, shutdown, stderr, stdout } = context;
  const conversions: string[] = [];
  const withBars = async (): Promise<InstalledModel[]> => {
    using bars = new PhaseBars(path, context);
    return await importModels(path, {
      env,
      ...flags,
      onProgress: (progress) => bars.update(progress),
      onConverted: (report) => conversions.push(conversionText(report)),
      signal: shutdown.signal,
    });
  };
  const models = await withBars();
  for (const text of conversions) stderr.write(text);
  for (const { id, path: file, sizeBytes } of models)
    stdout.write(`${id}  ${file} (${formatBytes(sizeBytes)})\n`);
  return exitCodes.ok;
}
