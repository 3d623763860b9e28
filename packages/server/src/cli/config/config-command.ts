// `ingle config`: shows and changes the settings that stay with models. A running server follows each change of the file.
import { readFile } from "node:fs/promises";
import { ModelSettingsFile } from "@ingle/protocol";
import { z } from "zod";
import { ModelSettingsStore } from "../../models/settings/model-settings-store.ts";
import { WireError } from "../../wire-error.ts";
import type { CommandContext } from "../context.ts";
import { CliError, exitCodes, usageError } from "../errors.ts";
import { carry, readForeign, samplingNames } from "./foreign-settings.ts";

/** Prints the settings of every model, or of one, or one of its settings. Returns the exit code. Throws ConfigError and CliError. */
export async function showConfig(
  { model, key }: { model: string | undefined; key: string | undefined },
  context: CommandContext,
): Promise<number> {
  const { stdout, stderr } = context;
  const store = await openStore(context);
  if (model === undefined) {
    stdout.write(print(store.content.models));
    stderr.write(`These settings are in ${store.file}.\n`);
    return exitCodes.ok;
  }
  const settings = store.settingsFor([model]);
  if (key === undefined) {
    stdout.write(print(settings));
    return exitCodes.ok;
  }
  const value = toPath(key).reduce<unknown>(
    (all, name) => (typeof all === "object" && all !== null ? Reflect.get(all, name) : undefined),
    settings,
  );
  if (value === undefined) throw new CliError(`${model} has no setting ${key}.`);
  stdout.write(typeof value === "string" ? `${value}\n` : print(value));
  return exitCodes.ok;
}

/** Sets one setting of a model. Returns the exit code. Throws ConfigError and CliError. */
export async function setConfig(
  { model, key, value }: { model: string; key: string; value: string },
  context: CommandContext,
): Promise<number> {
  const store = await openStore(context);
  const place = toPath(key);
  await change(() => writeFirst(store, { model, place, values: readings(value) }));
  await noteUnknown(model, context);
  return exitCodes.ok;
}

/** Removes one setting of a model, or all of them. Returns the exit code. Throws ConfigError and CliError. */
export async function unsetConfig(
  { model, key }: { model: string; key: string | undefined },
  context: CommandContext,
): Promise<number> {
  const store = await openStore(context);
  if (store.content.models[model] === undefined)
    throw new CliError(`${store.file} has no settings of ${model}.`);
  await change(() => store.set(model, key === undefined ? [] : toPath(key), undefined));
  return exitCodes.ok;
}

/**
 * Takes over the settings of a Modelfile or of llama-server's presets, and says of each other one why it was left out. Returns the exit code.
 * Throws ConfigError and CliError.
 */
export async function importConfig(
  { file, model }: { file: string; model: string | undefined },
  context: CommandContext,
): Promise<number> {
  const settings = readForeign(await readText(file));
  if (settings === undefined)
    throw new CliError(
      `${file} is no Modelfile, which begins with FROM, and has no sections of llama-server's presets.`,
    );
  const from = settings.find(({ key }) => key === "from")?.value;
  const store = await openStore(context);
  const { stderr } = context;
  let count = 0;
  for (const { model: section, key, value } of settings) {
    const name = model ?? section ?? from ?? "";
    const carried = carry({ key, value });
    if ("reason" in carried) {
      if (key !== "from") stderr.write(`left out: ${key} ${carried.reason}.\n`);
      continue;
    }
    // Ollama's \`stop\` stands once for each text.
    const present = key === "stop" ? (store.own(name).sampling?.stop ?? []) : [];
    const values = [present, carried.value].flat();
    await change(() => store.set(name, carried.place, key === "stop" ? [...new Set(values)] : carried.value));
    stderr.write(`${name}: ${carried.place.join(".")} = ${JSON.stringify(carried.value)}\n`);
    count += 1;
  }
  if (count === 0) throw new CliError(`${file} has no setting that Ingle has too.`);
  return exitCodes.ok;
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new CliError(`${file} cannot be read.`, { cause });
  }
}

/** Prints the JSON schema of the file, for editors. Returns the exit code. */
export function printSchema({ stdout }: CommandContext): number {
  stdout.write(print(z.toJSONSchema(ModelSettingsFile, { io: "input" })));
  return exitCodes.ok;
}

async function openStore(context: CommandContext): Promise<ModelSettingsStore> {
  const { configDir } = (await context.engine()).libraryPaths(context.env);
  return await ModelSettingsStore.read(configDir);
}

/** The place of a setting in its model's: `temperature` is one of `sampling`, also in a profile. */
function toPath(key: string): string[] {
  const names = key.split(".");
  const last = names.at(-1) ?? "";
  const isShort = names.length === 1 || (names.length === 3 && names[0] === "profiles");
  return isShort && samplingNames.has(last) ? [...names.slice(0, -1), "sampling", last] : names;
}

/** What a value may mean: `8` is a number, but a text in a system prompt. */
function readings(value: string): unknown[] {
  try {
    return [JSON.parse(value), value];
  } catch {
    return [value];
  }
}

/** Writes the first value that the setting takes. Throws what the first one is refused for. */
async function writeFirst(
  store: ModelSettingsStore,
  { model, place, values }: { model: string; place: readonly string[]; values: readonly unknown[] },
): Promise<void> {
  let refusal: unknown;
  for (const value of values) {
    try {
      return await store.set(model, place, value);
    } catch (error) {
      refusal ??= error;
    }
  }
  throw refusal;
}

async function change(write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    throw error instanceof WireError ? usageError(error.message, error) : error;
  }
}

/** A name that no installed model has may be a mistake. */
async function noteUnknown(model: string, { engine, env, stderr }: CommandContext): Promise<void> {
  if (model.includes("*")) return;
  const models = await (await engine()).listModels({ env });
  const isKnown = models.some(({ id, aliases }) => id === model || aliases.includes(model));
  if (!isKnown) stderr.write(`No model on this machine is called ${model} yet; \`ingle list\` lists them.\n`);
}

function print(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
