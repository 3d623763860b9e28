// Chooses the model that a command uses: the one given by --model, or else the library's default, with the reason on stderr.
import type { DefaultModel, LocatedModel, StarterReason } from "@ingle/engine";
import type { ServerConfig } from "../../config.ts";
import type { CommandContext } from "../context.ts";

/** Models on this machine are found within this time; asking the hub takes longer. */
const quietMs = 500;

/** Looks the model up, on the hub if it is not on this machine. Throws the engine's errors. */
export async function chooseModel(
  { model, offline }: Pick<ServerConfig, "model" | "offline">,
  { engine, env, shutdown, stderr }: Pick<CommandContext, "engine" | "env" | "shutdown" | "stderr">,
): Promise<LocatedModel> {
  const { defaultModel, locateModel } = await engine();
  const options = { env, isOffline: offline, signal: shutdown.signal };
  if (model !== undefined) return await locateModel(model, options);
  const note = "Asking the hub for a model that fits this machine …\n";
  const asking = setTimeout(() => stderr.write(note), quietMs);
  const chosen = await defaultModel(options).finally(() => clearTimeout(asking));
  stderr.write(`${lostText(chosen.lost)}${choiceText(chosen)}\n`);
  return chosen.located;
}

/** Why this model was chosen, and how to choose another one: a line each. */
function choiceText(chosen: DefaultModel): string {
  const { id } = chosen.located;
  const using = `No --model given: using ${id}`;
  const others = "Use --model to choose another one; `ingle list` shows those on this machine.";
  switch (chosen.reason) {
    case "used-last":
      return `${using}, the model you used last.\n${others}`;
    case "added-last":
      return `${using}, the model you added last.\n${others}`;
    case "recommended":
      return `${using}, a small model that fits this machine.\nUse --model to choose another one; \`ingle search\` finds some.`;
    case "starter": {
      const { why, advice } = passedOverText(chosen.starterReason);
      return `${using}, the starter model, because ${why}\n${advice}`;
    }
  }
}

function passedOverText(passedOver: StarterReason): { why: string; advice: string } {
  const another = "Use --model to choose another one";
  const better = (repo = ""): string =>
    repo === "" ? `${another}.` : `\`--model ${repo}\` downloads a better one later.`;
  switch (passedOver.why) {
    case "offline":
      return { why: "Ingle is offline.", advice: better(passedOver.repo) };
    case "silent":
      return {
        why: `the hub did not respond within ${passedOver.afterMs / 1000} s.`,
        advice: better(passedOver.repo),
      };
    case "unreachable":
      return {
        why: `the hub cannot be reached (${String(passedOver.error.details["reason"])}).`,
        advice: better(passedOver.repo),
      };
    case "refused":
      return {
        why: `the hub refused to provide one (${passedOver.error.message}).`,
        advice: `${another}.`,
      };
    case "memory":
      return { why: "this machine has too little memory for a better one.", advice: `${another} anyway.` };
  }
}

function lostText(lost: readonly string[]): string {
  if (lost.length === 0) return "";
  return `${lost.join(", ")}, which you used last, ${lost.length === 1 ? "is" : "are"} missing or damaged.\n`;
}
