// What `--model` means: a file, a repository, a package, an alias; without it the model that the library takes by itself, and
// says why. Used by serve, run and chat.
import type { DefaultModel, LocatedModel, PassedOver } from "@ingle/engine";
import type { ServerConfig } from "../../config.ts";
import type { CommandContext } from "../context.ts";

/** Looks the model up; only the hub may be asked for what is not there. Throws the engine's errors. */
export async function chooseModel(
  { model, offline }: Pick<ServerConfig, "model" | "offline">,
  { engine, env, shutdown, stderr }: Pick<CommandContext, "engine" | "env" | "shutdown" | "stderr">,
): Promise<LocatedModel> {
  const { defaultModel, locateModel } = await engine();
  const options = { env, isOffline: offline, signal: shutdown.signal };
  if (model !== undefined) return await locateModel(model, options);
  const chosen = await defaultModel(options);
  stderr.write(`${lostWords(chosen.lost)}${choiceWords(chosen)}\n`);
  return chosen.located;
}

function choiceWords(chosen: DefaultModel): string {
  const { id } = chosen.located;
  const using = `No --model given: using ${id}`;
  const others = "--model takes another one, and `ingle list` shows what is there.";
  switch (chosen.reason) {
    case "used-last":
      return `${using}, which you used last. ${others}`;
    case "added-last":
      return `${using}, which you added last. ${others}`;
    case "recommended":
      return `${using}, a small model that this machine has room for. --model takes another one, and \`ingle search\` finds some.`;
    case "starter":
      return `${using}, the starter model, because ${passedOverWords(chosen.insteadOf)}`;
  }
}

function passedOverWords(passedOver: PassedOver): string {
  const better = (repo: string): string => `\`--model ${repo}\` fetches and takes a better one later.`;
  switch (passedOver.why) {
    case "offline":
      return `Ingle was told to stay offline. ${passedOver.repo === undefined ? "" : better(passedOver.repo)}`.trim();
    case "silent":
      return `the hub did not answer within ${passedOver.afterMs / 1000} s. ${better(passedOver.repo)}`;
    case "refused":
      return `the hub has none to give. (${passedOver.error.message}) --model takes another one.`;
    case "memory":
      return "this machine has too little memory for a better one. --model takes another one all the same.";
  }
}

function lostWords(lost: readonly string[]): string {
  if (lost.length === 0) return "";
  return `${lost.join(", ")}, which you used last, ${lost.length === 1 ? "is" : "are"} gone or damaged.\n`;
}
