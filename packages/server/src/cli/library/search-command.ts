// `ingle search WORDS` lists repositories of the hub; `ingle search org/repo` the models of one, with what each needs.
import type { OfferedRepository } from "@ingle/engine";
import { exitCodes } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import type { SearchFlags } from "./library-commands.ts";
import { formatBytes } from "../../format-bytes.ts";
import { formatTable } from "../text.ts";

/** Returns the exit code: 1 when nothing was found. Throws the engine's errors. */
export async function searchCommand(
  words: string[],
  flags: SearchFlags,
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
  stderr.write(`\nThe models of one of them: ingle search ${found[0]?.repo ?? ""}\n`);
  return exitCodes.ok;
}

function repositoryText({ repo, license, isGated, facts, models }: OfferedRepository): string {
  const context =
    facts.contextLength === undefined
      ? ""
      : `, ${facts.contextLength.toLocaleString("en-US")} tokens of context`;
  const terms = isGated ? ", gated: its terms have to be accepted on its page" : "";
  const rows = models.map((model) => [
    model.id,
    formatBytes(model.sizeBytes),
    `about ${formatBytes(model.memoryBytes)}`,
    model.fits ? "" : "more than this machine has",
    model.hasProjector ? "with its image projector" : "",
  ]);
  return [
    `${repo}: ${facts.architecture}${context}, license ${license ?? "unknown"}${terms}\n\n`,
    formatTable([["MODEL", "DOWNLOAD", "MEMORY", "", ""], ...rows]),
  ].join("");
}
