// `ingle import --from PROGRAM`: takes over the models of another program without a copy.
import type { OtherProgram } from "@ingle/engine";
import type { CommandContext } from "../context.ts";
import { exitCodes, usageError } from "../errors.ts";
import { PhaseBars } from "../model/fetch-model.ts";
import { formatBytes } from "../text.ts";

/** Prints each model's id and path; the models that were refused on stderr, with the reason. Returns the exit code. */
export async function takeOverCommand(
  from: string,
  only: string | undefined,
  context: CommandContext,
): Promise<number> {
  const { otherPrograms, takeOverModels } = await context.engine();
  const program = otherPrograms.find((each) => each === from);
  if (program === undefined) throw usageError(`--from must be one of ${otherPrograms.join(", ")}.`);
  const taken = await withBars(program, only, context, takeOverModels);
  let hasRefused = false;
  for (const { id, outcome, path, sizeBytes, problem } of taken) {
    if (outcome === "refused") context.stderr.write(`${id} was left out: ${problem ?? ""}\n`);
    else
      context.stdout.write(
        `${id}  ${path ?? ""} (${formatBytes(sizeBytes)}${outcome === "already-there" ? ", already there" : ""})\n`,
      );
    hasRefused ||= outcome === "refused";
  }
  return hasRefused ? exitCodes.failure : exitCodes.ok;
}

async function withBars(
  program: OtherProgram,
  only: string | undefined,
  context: CommandContext,
  take: Awaited<ReturnType<CommandContext["engine"]>>["takeOverModels"],
): ReturnType<typeof take> {
  const { env, shutdown } = context;
  using bars = new PhaseBars(`the models of ${program}`, context);
  return await take(program, {
    env,
    only,
    signal: shutdown.signal,
    onProgress: (progress) => bars.update(progress),
  });
}
