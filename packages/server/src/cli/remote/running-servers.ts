// The servers of this user, and the models that they have loaded. Each server records where it listens:
//
//   run/<process id>.json    { pid, url, id, token, isApp }, readable by its user only: the token manages the server
//
// A record is trusted only if its file and the process that it names belong to this user: otherwise, an attacker could make this
// program send keys.
import { constants } from "node:fs";
import { mkdir, open, readdir, rm, stat, writeFile, type FileHandle } from "node:fs/promises";
import path from "node:path";
import type { LibraryPaths } from "@ingle/engine";
import { parseJson } from "@ingle/protocol/json-shape";
import { z } from "zod";
import { isLoopback } from "../../access/ip-address.ts";
import { requestJson } from "../http-json.ts";

const ServerRecord = z.object({
  pid: z.int().positive(),
  url: z.url(),
  token: z.string(),
  /** The model that it was started with; absent for the app. */
  id: z.string().optional(),
  /** Whether this is the control server of the app. */
  isApp: z.boolean().optional(),
});
/** A server that this user runs. */
type ServerRecord = z.infer<typeof ServerRecord>;
const SessionOfApp = z.object({ right: z.literal("management"), is_app: z.literal(true) });
const ModelList = z.object({ data: z.array(z.object({ id: z.string(), status: z.string().optional() })) });

/** Time limit: a server on this machine responds at once, or is too busy to wait for. */
const responseMaxMs = 1_000;
/** A record holds five short values: a larger file is something else. */
const recordBytesMax = 16_384;
/** Permissions for the owner only. */
const forOwner = { file: 0o600, folder: 0o700, others: 0o077 };

/** Writes the record, and removes it when disposed. With a read-only library, the server runs without a record. */
export async function announceServer(
  { home }: LibraryPaths,
  server: Omit<ServerRecord, "pid">,
): Promise<AsyncDisposable> {
  const file = path.join(serversFolder(home), `${process.pid}.json`);
  try {
    await mkdir(serversFolder(home), { recursive: true, mode: forOwner.folder });
    await rm(file, { force: true }); // of an earlier process with this id; an existing file would keep its permissions
    await writeFile(file, JSON.stringify({ pid: process.pid, ...server }), {
      mode: forOwner.file,
      flag: "wx",
    });
    return { [Symbol.asyncDispose]: async () => await rm(file, { force: true }) };
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
    return { [Symbol.asyncDispose]: async () => {} };
  }
}

/** The ids of loaded models, each with the address of its server. */
export async function loadedModels({ home }: LibraryPaths): Promise<Map<string, string>> {
  const loaded = new Map<string, string>();
  for (const record of await recordsIn(home)) {
    for (const id of await loadedBy(record)) loaded.set(id, record.url);
  }
  return loaded;
}

/** The servers of this user. */
export async function runningServers({ home }: LibraryPaths): Promise<ServerRecord[]> {
  return await recordsIn(home);
}

/** The running app of this user, if it responds. */
export async function runningApp({
  home,
}: LibraryPaths): Promise<{ url: string; token: string } | undefined> {
  for (const record of await recordsIn(home)) {
    if (record.isApp !== true) continue;
    const session = await getJson(record, "/api/v1/session").catch(() => undefined);
    if (SessionOfApp.safeParse(session).success) return { url: record.url, token: record.token };
  }
  return undefined;
}

/** The token, if the server is on this machine: it must not leave it. */
export function tokenFor({ url, token }: ServerRecord): string | undefined {
  return isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, "")) ? token : undefined;
}

async function recordsIn(home: string): Promise<ServerRecord[]> {
  const names = await namesIn(serversFolder(home));
  const records = await Promise.all(names.map((name) => readRecord(path.join(serversFolder(home), name))));
  return records.filter((record) => record !== undefined);
}

/** The models that the server reports; if it does not respond in time, the one in its record. */
async function loadedBy(record: ServerRecord): Promise<string[]> {
  const written = record.id === undefined ? [] : [record.id];
  try {
    const list = ModelList.safeParse(await getJson(record, "/v1/models"));
    if (!list.success) return written;
    return list.data.data.filter((entry) => (entry.status ?? "loaded") === "loaded").map((entry) => entry.id);
  } catch {
    return written; // a self-signed certificate, or a busy server: its process is alive
  }
}

/** The JSON of the response; undefined for an error. */
async function getJson(record: ServerRecord, route: string): Promise<unknown> {
  const token = tokenFor(record);
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const signal = AbortSignal.timeout(responseMaxMs);
  const { status, json } = await requestJson(record.url + route, {
    method: "GET",
    headers,
    signal,
    redirect: "error",
  });
  return status < 300 ? json : undefined;
}

/** The record of a running process. Removes a record that a killed process left behind, but not the files of other users. */
async function readRecord(file: string): Promise<ServerRecord | undefined> {
  const text = await ownText(file);
  if (text === undefined) return undefined;
  const record = ServerRecord.safeParse(parseJson(text));
  if (record.success && (await isOwnProcess(record.data.pid))) return record.data;
  await rm(file, { force: true });
  return undefined;
}

/** The text of a file that belongs to this user and that nobody else may read or write; undefined for any other. */
async function ownText(file: string): Promise<string | undefined> {
  let handle: FileHandle | undefined;
  try {
    // Does not follow links, which could lead to another user's record. Windows has no such flag.
    handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    const { uid, mode, size } = await handle.stat();
    const user = process.getuid?.();
    const isOwn = user === undefined || (uid === user && (mode & forOwner.others) === 0);
    return isOwn && size <= recordBytesMax ? await handle.readFile("utf8") : undefined;
  } catch {
    return undefined; // removed meanwhile, or not readable
  } finally {
    await handle?.close();
  }
}

/**
 * Whether the process is running and belongs to this user. Linux reports the owner; elsewhere, only one's own processes can be
 * signalled.
 */
async function isOwnProcess(pid: number): Promise<boolean> {
  try {
    if (process.platform === "linux") return (await stat(`/proc/${pid}`)).uid === process.getuid?.();
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith(".json")).toSorted();
  } catch {
    return []; // no server has run yet, or the folder is not readable
  }
}

function serversFolder(home: string): string {
  return path.join(home, "run");
}
