// The server that computes a batch: one that runs already, or one of its own for the time of the command, which nobody else may use.
import { CliError, usageError } from "../errors.ts";
import type { CommandContext } from "../context.ts";
import { fetchFailure, requestJson } from "../http-json.ts";
import { startPrivateServer } from "../model/private-server.ts";
import { firstKey, namedServer } from "../remote/remote-server.ts";
import { runningServers, tokenFor } from "../remote/running-servers.ts";
import type { BatchFlags } from "./batch-flags.ts";

/** Requests in flight at a running server, unless --parallel sets them: it computes some, and the others wait behind everyone else's. */
const inFlightDefault = 16;
/**
 * Requests that the own server computes at once: nobody waits for one of them. With 32 in place of a server's 8, a file of chats was done in three
 * quarters of the time, with 64 in 0.7 of it (AMD EPYC, AVX-512).
 */
const togetherDefault = 32;
/** Requests in flight at the own server besides those that it computes at once. */
const ahead = 2;
/** Time limit for a response about models, which needs no computing. */
const responseMaxMs = 5_000;

export interface BatchServer extends AsyncDisposable {
  /** Without a path. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What all requests name as their model; undefined: each its own. */
  readonly model: string | undefined;
  /** Requests in flight. */
  readonly places: number;
}

/** A server that may be used. */
interface Candidate {
  readonly url: string;
  readonly apiKey: string | undefined;
}

/**
 * The server of --url; else one of this user that knows the model; else loads the model. Throws CliError for a server that cannot be
 * used, and what loading throws.
 */
export async function openBatchServer(flags: BatchFlags, context: CommandContext): Promise<BatchServer> {
  const { env } = context;
  const { url, apiKey } = flags;
  const named = namedServer(url, env);
  const records = await runningServers((await context.engine()).libraryPaths(env));
  const running: Candidate[] = records.map((each) => ({ url: each.url, apiKey: apiKey ?? tokenFor(each) }));
  if (named !== undefined) {
    const own = running.find((each) => each.url === named);
    const candidate = own ?? {
      url: named,
      apiKey: apiKey ?? firstKey(env, ["INGLE_API_KEYS", "INGLE_ADMIN_KEYS"]),
    };
    const problem = await findProblem(candidate, undefined, context);
    if (problem !== undefined) throw new CliError(problem);
    return toServer(candidate, flags);
  }
  for (const candidate of running) {
    if ((await findProblem(candidate, flags.model, context)) !== undefined) continue;
    context.stderr.write(`Using the server at ${candidate.url}.\n`);
    return toServer(candidate, flags);
  }
  if (apiKey !== undefined)
    throw usageError("No server of yours can be used. Use --url to say which server the key is for.");
  return await startServer(flags, context);
}

function toServer(
  { url, apiKey }: Candidate,
  { model, parallel = inFlightDefault }: BatchFlags,
): BatchServer {
  // Lets the requests of people go first: see plugins/background.ts.
  const headers: Record<string, string> = { "x-ingle-priority": "background" };
  if (apiKey !== undefined) headers["authorization"] = `Bearer ${apiKey}`;
  return { url, headers, model, places: parallel, [Symbol.asyncDispose]: async () => {} };
}

/** Why a server cannot be used; undefined if it can. */
async function findProblem(
  { url, apiKey }: Candidate,
  model: string | undefined,
  { shutdown }: CommandContext,
): Promise<string | undefined> {
  const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const signal = AbortSignal.any([shutdown.signal, AbortSignal.timeout(responseMaxMs)]);
  const path = model === undefined ? "/v1/models" : `/v1/models/${encodeURI(model)}`;
  try {
    const { status } = await requestJson(url + path, { method: "GET", headers, signal, redirect: "error" });
    if (status === 401 || status === 403)
      return `The server at ${url} ${apiKey === undefined ? "requires a key" : "refuses this key"}. Give one with --api-key.`;
    return status < 300 ? undefined : `The server at ${url} responds with the status ${status}.`;
  } catch (error) {
    shutdown.signal.throwIfAborted();
    return `No server responds at ${url}: ${fetchFailure(error)}.`;
  }
}

/** Throws what `startPrivateServer()` throws. */
async function startServer(
  { url: _url, apiKey: _apiKey, parallel, ...flags }: BatchFlags,
  context: CommandContext,
): Promise<BatchServer> {
  const isGiven = parallel !== undefined || (context.env["INGLE_PARALLEL"] ?? "") !== "";
  const together = isGiven ? parallel : togetherDefault;
  const { server, apiKey, model, info } = await startPrivateServer({ ...flags, parallel: together }, context);
  return {
    url: server.url,
    headers: { authorization: `Bearer ${apiKey}` },
    model,
    places: info.parallel + ahead,
    [Symbol.asyncDispose]: async () => await server.close({ deadlineMs: 0 }),
  };
}
