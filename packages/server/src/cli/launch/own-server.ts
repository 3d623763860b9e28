// A server for the lifetime of one program, which only it uses.
import { Writable } from "node:stream";
import type { CommandContext } from "../context.ts";
import { startPrivateServer } from "../model/private-server.ts";
import type { LaunchServer } from "./launch-server.ts";

interface OwnServerFlags {
  readonly model?: string | undefined;
  readonly ctx?: number | undefined;
  readonly offline?: boolean | undefined;
}

/** Throws what `startPrivateServer()` throws. */
export async function startOwnServer(
  { model: name, ctx, offline }: OwnServerFlags,
  given: CommandContext,
): Promise<LaunchServer> {
  const terminal = quietable(given);
  const { server, apiKey, model } = await startPrivateServer({ model: name, ctx, offline }, terminal.context);
  const { context_length, context_length_train, capabilities } = server.registry.describe(model);
  terminal.silence();
  return {
    origin: server.url,
    apiKey,
    model,
    contextLength: context_length,
    contextLengthTrain: context_length_train,
    canCallTools: capabilities.includes("tools"),
    isOwn: true,
    [Symbol.asyncDispose]: () => server.close({ deadlineMs: 0 }),
  };
}

/** Once the program has the terminal, nothing else may be written there, such as the progress of a later load. */
function quietable(given: CommandContext): { context: CommandContext; silence: () => void } {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  let { stderr }: Pick<CommandContext, "stderr"> = given;
  return {
    context: {
      ...given,
      get stderr() {
        return stderr;
      },
    },
    silence: () => (stderr = nowhere),
  };
}
