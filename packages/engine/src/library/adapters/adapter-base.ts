// Finds the installed model that an adapter was made for, by the names that the adapter's files give.
import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { readGgufKeys, getString } from "@ingle/gguf";
import { z } from "zod";
import { EngineError } from "../../base/errors.ts";
import type { InstalledModel } from "../installed.ts";
import { peekFile } from "../model-facts.ts";

/** PEFT's field, and mlx-lm's. */
const Config = z.object({
  base_model_name_or_path: z.string().max(1024).nullish().catch(undefined),
  model: z.string().max(1024).nullish().catch(undefined),
});

/** The keys of convert_lora_to_gguf.py. */
const baseKeys = ["general.base_model.0.repo_url", "general.base_model.0.name"];

/**
 * The model that the adapter at this path is for. `chosen` is an id or alias. Throws `model_not_found` if there is none, and
 * `invalid_request` if there are several.
 */
export async function findAdapterBase(
  adapter: { path: string; repo: string },
  chosen: string | undefined,
  models: readonly InstalledModel[],
): Promise<InstalledModel> {
  const advice = "Name the model with --base.";
  if (chosen !== undefined) {
    const model = models.find(({ id, aliases }) => id === chosen || aliases.includes(chosen));
    if (model !== undefined) return model;
    throw notFound(
      adapter,
      `There is no model called "${chosen}" here. \`ingle list\` shows the installed ones.`,
    );
  }
  const wanted = await baseNames(adapter.path);
  const [name] = wanted;
  if (name === undefined)
    throw notFound(adapter, `${adapter.repo} does not say which model it is for. ${advice}`);
  const matching = await findMatches(wanted, models);
  const [first, second] = matching;
  if (first === undefined)
    throw notFound(
      adapter,
      `${adapter.repo} is an adapter for ${name}, which is not installed. Pull that model first, or name another one with --base.`,
    );
  if (second === undefined) return first;
  const ids = matching.map(({ id }) => id).join(", ");
  const message = `${adapter.repo} is an adapter for ${name}, which is installed more than once: ${ids}. ${advice}`;
  throw new EngineError("invalid_request", message, { details: { param: "base" } });
}

function notFound({ repo }: { repo: string }, message: string): EngineError {
  return new EngineError("model_not_found", message, { details: { repo } });
}

/** Names of the base, as the adapter's files give them. */
async function baseNames(adapter: string): Promise<string[]> {
  const found = (await stat(adapter)).isDirectory()
    ? Object.values(
        Config.parse(JSON.parse(await readFile(path.join(adapter, "adapter_config.json"), "utf8"))),
      )
    : await readGgufKeys(adapter, (key) => baseKeys.includes(key)).then((keys) =>
        baseKeys.map((key) => getString(keys, key)),
      );
  // Printed to terminals.
  return found.flatMap((name) => (typeof name === "string" && /^[^\p{Cc}]+$/u.test(name) ? [name] : []));
}

async function findMatches(
  wanted: readonly string[],
  models: readonly InstalledModel[],
): Promise<InstalledModel[]> {
  const keys = new Set(wanted.map(modelKey));
  const matching: InstalledModel[] = [];
  for (const model of models) {
    // Another program may just have removed its file.
    const facts = await peekFile(model.path).catch(() => undefined);
    const names = [
      model.id.replace(/:.*$/, ""),
      ...model.aliases,
      ...(facts?.name === undefined ? [] : [facts.name]),
    ];
    if (names.some((name) => keys.has(modelKey(name)))) matching.push(model);
  }
  return matching;
}

/** Endings that say how a model is stored, not which one it is. */
const storage = /[-_. ](?:gguf|mlx|i?q\d\w*|b?f\d\d|fp\d\d|mxfp\d|nvfp4|\d-?bits?|bnb|unsloth|dwq)$/;

/** Equal for builds of one model: the last part of the name, without its storage. */
function modelKey(name: string): string {
  let key = name
    .replace(/[/\\]+$/, "")
    .replace(/^.*[/\\]/, "")
    .toLowerCase();
  while (storage.test(key)) key = key.replace(storage, "");
  return key.replaceAll(/[-_. ]+/g, "-");
}
