// `ingle pull MODEL`: fetches a model, says first what it is and needs, and prints where it lies.
import type { LocatedModel } from "@ingle/engine";
import { exitCodes, usageError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { fetchWithBars } from "../model/fetch-model.ts";
import type { PullFlags } from "./library-commands.ts";
import { chooseModel } from "../model/choose-model.ts";
import { formatBytes } from "../../format-bytes.ts";
import { formatColumns } from "../text.ts";

/** Returns the exit code. Throws the engine's errors. */
export async function pullCommand(model: string, flags: PullFlags, context: CommandContext): Promise<number> {
  const { addAlias, parseModelSpec } = await context.engine();
  const { env, stdout, stderr, shutdown } = context;
  const offline = flags.offline ?? false;
  if (parseModelSpec(model).kind === "file")
    throw usageError(`${model} is on this machine: \`ingle import\` registers it.`);
  const located = await chooseModel({ model, offline }, context);
  if (located.kind === "file") stderr.write(`${located.id} is there already.\n`);
  if (located.kind === "hub") stderr.write(await describe(located, context));
  const file = await fetchWithBars(located, context, {
    offline,
    exact: flags.exact,
    signal: shutdown.signal,
  });
  if (flags.alias !== undefined) await addAlias(flags.alias, located.id, { env });
  stdout.write(`${file}\n`);
  return exitCodes.ok;
}

/** What the header of the model on the hub says, before its weights are fetched. */
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
