// `ingle list`: the models on this machine. `ingle search WORDS`: repositories on the hub; `ingle search org/repo`: the models of one.
import type { InstalledModel, OfferedRepository } from "@ingle/engine";
import type { CommandContext } from "../context.ts";
import { exitCodes } from "../errors.ts";
import { modelCapabilities } from "../../models/catalog/model-profile.ts";
import { loadedModels } from "../remote/running-servers.ts";
import { formatBytes, formatTable } from "../text.ts";
import type { FlagsIn, listFlags, searchFlags } from "../command-flags.ts";

const places: Record<InstalledModel["place"], string> = {
  ingle: "",
  import: "imported",
  huggingface: "Hugging Face cache",
  "lm-studio": "LM Studio",
  "llama.cpp": "llama.cpp",
};

/** Returns the exit code. Throws the engine's errors. */
export async function listCommand(
  flags: FlagsIn<typeof listFlags>,
  context: CommandContext,
): Promise<number> {
  const { libraryPaths, listModels, modelTraits, projectorTraits } = await context.engine();
  const { env, shutdown, stdout, stderr } = context;
  const [models, loaded] = await Promise.all([
    listModels({ env, signal: shutdown.signal }),
    loadedModels(libraryPaths(env)),
  ]);
  // Takes a few milliseconds each.
  const traits = await Promise.all(models.map(({ path }) => modelTraits(path)));
  const canDo = await Promise.all(
    models.map(async ({ mmproj }, at) => modelCapabilities(traits[at], await projectorTraits(mmproj))),
  );
  if (flags.json === true) {
    const entries = models.map((model, at) => ({
      ...toEntry(model, loaded.has(model.id)),
      context_length_train: traits[at]?.contextLengthTrain ?? null,
      capabilities: canDo[at],
    }));
    stdout.write(`${JSON.stringify(entries, undefined, 2)}\n`);
    return exitCodes.ok;
  }
  if (models.length === 0) {
    stderr.write("No models yet. `ingle search` finds some; `ingle pull` downloads one.\n");
    return exitCodes.ok;
  }
  const rows = models.flatMap((model, at) => [
    [
      [model.id, ...model.aliases].join(", "),
      model.quantization ?? "",
      formatBytes(model.sizeBytes),
      canDo[at]?.join(", ") ?? "",
      loaded.has(model.id) ? "loaded" : lastUse(model),
      places[model.place],
    ],
    ...model.adapters.map(({ id, sizeBytes }) => [id, "", formatBytes(sizeBytes), "adapter", "", ""]),
  ]);
  stdout.write(formatTable([["MODEL", "QUANTIZATION", "SIZE", "CAPABILITIES", "LAST USE", ""], ...rows]));
  return exitCodes.ok;
}

/** The fields of `--json`, which programs rely on. */
function toEntry(model: InstalledModel, loaded: boolean) {
  const { id, path, format, quantization, sizeBytes, aliases, lastUsedAt } = model;
  const last_used = lastUsedAt?.toISOString() ?? null;
  const adapters = model.adapters.map(({ name }) => name);
  return { id, path, format, quantization, size_bytes: sizeBytes, loaded, aliases, adapters, last_used };
}

function lastUse({ lastUsedAt }: InstalledModel): string {
  return lastUsedAt === null ? "never" : lastUsedAt.toISOString().slice(0, 10);
}

/** Returns the exit code: 1 when nothing was found. Throws the engine's errors. */
export async function searchCommand(
  words: string[],
  flags: FlagsIn<typeof searchFlags>,
  context: CommandContext,
): Promise<number> {
  const { describeRepository, parseModelSpec, searchModels } = await context.engine();
  const { env, shutdown, stdout, stderr } = context;
  const query = words.join(" ");
  const spec = words.length === 1 ? parseModelSpec(query) : undefined;
  if (spec?.kind === "hub") {
    stdout.write(repositoryText(await describeRepository(spec.repo, { env, signal: shutdown.signal })));
    return exitCodes.ok;
  }
  const found = await searchModels(query, { env, limit: flags.limit, signal: shutdown.signal });
  if (found.length === 0) {
    stderr.write(`The hub has no GGUF models for "${query}".\n`);
    return exitCodes.failure;
  }
  const rows = found.map(({ repo, downloads, likes, isGated }) => [
    repo,
    downloads.toLocaleString("en-US"),
    likes.toLocaleString("en-US"),
    isGated ? "gated" : "",
  ]);
  stdout.write(formatTable([["REPOSITORY", "DOWNLOADS", "LIKES", ""], ...rows]));
  stderr.write(`\nTo list the models of one: ingle search ${found[0]?.repo ?? ""}\n`);
  return exitCodes.ok;
}

function repositoryText({ repo, license, isGated, facts, models }: OfferedRepository): string {
  const context =
    facts.contextLength === undefined
      ? ""
      : `, ${facts.contextLength.toLocaleString("en-US")} tokens of context`;
  const terms = isGated ? ", gated: accept its terms on its page first" : "";
  const rows = models.map((model) => [
    model.id,
    formatBytes(model.sizeBytes),
    `about ${formatBytes(model.memoryBytes)}`,
    model.fits ? "" : "too large for this machine",
    model.hasProjector ? "with its image projector" : "",
  ]);
  return [
    `${repo}: ${facts.architecture}${context}, license ${license ?? "unknown"}${terms}\n\n`,
    formatTable([["MODEL", "DOWNLOAD", "MEMORY", "", ""], ...rows]),
  ].join("");
}
