// What `--model` means: a file, a repository, a package, an alias; without it the starter model. Used by serve, run and chat.
import type { LocatedModel } from "@ingle/engine";
import type { ServerConfig } from "../config.ts";
import type { CommandContext } from "./context.ts";

/** Looks the model up; only the hub may be asked for what is not there. Throws the engine's errors. */
export async function chooseModel(
  { model, offline }: Pick<ServerConfig, "model" | "offline">,
  { engine, env, shutdown }: Pick<CommandContext, "engine" | "env" | "shutdown">,
): Promise<LocatedModel> {
  const { locateModel, starterModel } = await engine();
  return await locateModel(model ?? starterModel.id, { env, isOffline: offline, signal: shutdown.signal });
}
