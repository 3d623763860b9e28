// Finds a server that is running already, and loads the model there if it is not in memory.
import { ManagedModelList, ServerControl, type ManagedModel } from "@ingle/protocol";
import type { CommandContext } from "../context.ts";
import { CliError } from "../errors.ts";
import { fetchFailure, requestJson } from "../http-json.ts";
import { loadCommand } from "../remote/manage-commands.ts";
import { firstKey, namedServer } from "../remote/remote-server.ts";
import { runningServers, tokenFor } from "../remote/running-servers.ts";
import type { LaunchServer } from "./launch-server.ts";

/** Time limit for a response about models, which needs no computing. */
const responseMaxMs = 5_000;
/** Whose keys use models and do not manage them. */
const keyVariables = ["INGLE_API_KEYS"];
/** For servers that require no key: many programs refuse an empty one. */
const anyKey = "ingle";

interface RunningServerFlags {
  readonly url?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly model?: string | undefined;
  readonly ctx?: number | undefined;
}

/** A server that a program could use. */
interface Candidate {
  readonly origin: string;
  /** The address at which models are loaded, and whether this user may do that there without a key. */
  readonly management: { readonly url: string; readonly isOurs: boolean };
  /** The model that it was started with. */
  readonly startedWith?: string | undefined;
}

/**
 * The server of `--url` or `INGLE_URL`; otherwise the first server of this user that knows the model, or has one in memory. Undefined if
 * there is none, so that one has to be started. Throws CliError.
 */
export async function findRunningServer(
  flags: RunningServerFlags,
  context: CommandContext,
): Promise<LaunchServer | undefined> {
  const named = namedOrigin(flags, context);
  for (const candidate of await candidates(named, context)) {
    const models = await modelsAt(candidate, flags, context);
    const model = models === undefined ? undefined : chooseEntry(models.data, flags.model, candidate);
    if (models !== undefined && model !== undefined)
      return await toLaunchServer({ candidate, model, apiKey: models.apiKey }, flags, context);
    if (named !== "") throw noModel(named, flags.model);
  }
  return undefined;
}

/** Empty if none is named. */
function namedOrigin({ url }: RunningServerFlags, { env }: CommandContext): string {
  return namedServer(url, env) ?? "";
}

/** A server of another user or machine has no record here. */
async function candidates(named: string, context: CommandContext): Promise<Candidate[]> {
  const { libraryPaths } = await context.engine();
  const found: Candidate[] = [];
  for (const record of await runningServers(libraryPaths(context.env))) {
    const { url, id, isApp } = record;
    const origin = isApp === true ? await appOrigin(url, tokenFor(record), context) : url;
    const management = { url, isOurs: tokenFor(record) !== undefined };
    if (origin !== undefined) found.push({ origin, management, startedWith: id });
  }
  if (named === "") return found;
  const own = found.find(({ origin }) => origin === named);
  return [own ?? { origin: named, management: { url: named, isOurs: false } }];
}

/** The address of the server that the app has started for programs; undefined while it is stopped. */
async function appOrigin(
  control: string,
  token: string | undefined,
  context: CommandContext,
): Promise<string | undefined> {
  if (token === undefined) return undefined;
  const { json } = await get(`${control}/api/v1/server`, token, context).catch(() => ({ json: undefined }));
  const state = ServerControl.safeParse(json);
  return state.success ? (state.data.url ?? undefined) : undefined;
}

/**
 * The server's models and a key for them. A key is sent only to a server that the user has named. Undefined for another one that does
 * not respond or wants a key.
 */
async function modelsAt(
  { origin }: Candidate,
  flags: RunningServerFlags,
  context: CommandContext,
): Promise<{ data: ManagedModel[]; apiKey: string } | undefined> {
  const isNamed = namedOrigin(flags, context) !== "";
  const given = isNamed ? (flags.apiKey ?? firstKey(context.env, keyVariables)) : undefined;
  const { status, json } = await get(`${origin}/api/v1/models`, given, context).catch((cause: unknown) => {
    context.shutdown.signal.throwIfAborted();
    if (!isNamed) return { status: 0, json: undefined };
    throw new CliError(`No server responds at ${origin}: ${fetchFailure(cause)}.`, { cause });
  });
  const list = ManagedModelList.safeParse(json);
  if (status === 200 && list.success) return { data: list.data.data, apiKey: given ?? anyKey };
  const problem =
    status === 401
      ? `${given === undefined ? "requires a key" : "refuses this key"}. Give one with --url ${origin} --api-key KEY.`
      : "is not an Ingle server, or has another version.";
  if (isNamed) throw new CliError(`The server at ${origin} ${problem}`);
  if (status !== 0) context.stderr.write(`The server at ${origin} ${problem}\n`);
  return undefined;
}

async function get(
  url: string,
  apiKey: string | undefined,
  { shutdown }: CommandContext,
): Promise<{ status: number; json: unknown }> {
  const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const signal = AbortSignal.any([shutdown.signal, AbortSignal.timeout(responseMaxMs)]);
  return await requestJson(url, { method: "GET", headers, signal, redirect: "error" });
}

/** Without a name: one that is in memory, or the one that the server was started with. */
function chooseEntry(
  models: readonly ManagedModel[],
  name: string | undefined,
  { startedWith }: Candidate,
): ManagedModel | undefined {
  if (name !== undefined) return models.find(({ id, aliases }) => id === name || aliases.includes(name));
  const chats = models.filter(({ capabilities }) => !capabilities.includes("embeddings"));
  return chats.find(({ status }) => status === "loaded") ?? chats.find(({ id }) => id === startedWith);
}

function noModel(origin: string, name: string | undefined): CliError {
  return new CliError(
    name === undefined
      ? `The server at ${origin} has no model in memory. Name one with --model.`
      : `The server at ${origin} does not know the model ${name}. \`ingle ps --all --url ${origin}\` lists those that it knows.`,
  );
}

async function toLaunchServer(
  { candidate, model, apiKey }: { candidate: Candidate; model: ManagedModel; apiKey: string },
  { ctx }: RunningServerFlags,
  context: CommandContext,
): Promise<LaunchServer> {
  const { origin, management } = candidate;
  let entry = model;
  if (model.status !== "loaded" && management.isOurs) {
    // Its progress and its last line are notes here: stdout is the program's.
    await loadCommand(model.id, { url: management.url, ctx }, { ...context, stdout: context.stderr });
    const key = apiKey === anyKey ? undefined : apiKey;
    const { json } = await get(`${origin}/api/v1/models`, key, context);
    entry = ManagedModelList.parse(json).data.find(({ id }) => id === model.id) ?? model;
  } else if (model.status !== "loaded") {
    context.stderr.write(
      `${model.id} is loaded by the first request; how long its context is, is not known yet.\n`,
    );
  }
  return {
    origin,
    apiKey,
    model: entry.id,
    contextLength: entry.status === "loaded" ? entry.context_length : null,
    contextLengthTrain: entry.context_length_train,
    canCallTools: entry.capabilities.includes("tools"),
    isOwn: false,
    [Symbol.asyncDispose]: async () => {},
  };
}
