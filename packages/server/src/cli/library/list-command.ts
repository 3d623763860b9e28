// `ingle list`: the models that are there, as a table or as JSON.
import type { InstalledModel } from "@ingle/engine";
import { exitCodes } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import type { ListFlags } from "./library-commands.ts";
import { formatBytes } from "../../format-bytes.ts";
import { formatTable } from "../text.ts";
import { loadedModels } from "../remote/running-servers.ts";

const places: Record<InstalledModel["place"], string> = {
  ingle: "",
  import: "imported",
  huggingface: "Hugging Face cache",
  "lm-studio": "LM Studio",
  "llama.cpp": "llama.cpp",
};

/** Returns the exit code. Throws the engine's errors. */
export async function listCommand(flags: ListFlags, context: CommandContext): Promise<number> {
  const { libraryPaths, listModels } = await context.engine();
  const { env, shutdown, stdout, stderr } = context;
  const [models, loaded] = await Promise.all([
    listModels({ env, signal: shutdown.signal }),
    loadedModels(libraryPaths(env)),
  ]);
  if (flags.json === true) {
    const entries = models.map((model) => toEntry(model, loaded.has(model.id)));
    stdout.write(`${JSON.stringify(entries, undefined, 2)}\n`);
    return exitCodes.ok;
  }
  if (models.length === 0) {
    stderr.write("No model is there yet. `ingle search` finds some, `ingle pull` fetches one.\n");
    return exitCodes.ok;
  }
  const rows = models.map((model) => [
    [model.id, ...model.aliases].join(", "),
    model.quantization ?? "",
    formatBytes(model.sizeBytes),
    loaded.has(model.id) ? "loaded" : lastUse(model),
    places[model.place],
  ]);
  stdout.write(formatTable([["MODEL", "QUANTIZATION", "SIZE", "LAST USE", ""], ...rows]));
  return exitCodes.ok;
}

/** The fields that programs rely on. */
function toEntry(model: InstalledModel, loaded: boolean) {
  const { id, path, format, quantization, sizeBytes, aliases, lastUsedAt } = model;
  const last_used = lastUsedAt?.toISOString() ?? null;
  return { id, path, format, quantization, size_bytes: sizeBytes, loaded, aliases, last_used };
}

function lastUse({ lastUsedAt }: InstalledModel): string {
  return lastUsedAt === null ? "never" : lastUsedAt.toISOString().slice(0, 10);
}
