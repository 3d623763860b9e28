// Which models are loaded now, by any server of this user: each writes down where it listens, and is asked. Used by serve,
// list, remove, and by the commands that manage a server.
//
//   run/<process id>.json    { pid, url, id, token, isApp }, which only its user may read: the token manages the server
//
// A record is believed when it and the process that it names are this user's own. Anything else could send a key to
// somebody who listens for it.
import { constants } from "node:fs";
import { mkdir, open, readdir, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import type { LibraryPaths } from "@ingle/engine";
import { z } from "zod";
import { isLoopback } from "../../config.ts";

const ServerRecord = z.object({
  pid: z.int().positive(),
  url: z.url(),
  token: z.string(),
  /** The model that it was started with; the app has none. */
  id: z.string().optional(),
  /** It is the control address of the app. */
  isApp: z.boolean().optional(),
});
/** A server that this user runs. */
export type ServerRecord = z.infer<typeof ServerRecord>;
const SessionOfApp = z.object({ right: z.literal("management"), is_app: z.literal(true) });
const ModelList = z.object({ data: z.array(z.object({ id: z.string(), status: z.string().optional() })) });

/** A server of this machine answers at once, or is too busy to be waited for. */
const answerMaxMs = 1_000;
/** Records hold four short values: more is something else. */
const recordBytesMax = 16_384;
/** Rights of a file or folder for its owner alone. */
const forOwner = { file: 0o600, folder: 0o700, others: 0o077 };

/** Writes the record, until it is disposed. A library that cannot be written does not keep anybody from serving. */
export async function announceServer(
  { home }: LibraryPaths,
  server: Omit<ServerRecord, "pid">,
): Promise<AsyncDisposable> {
  const file = path.join(folderOf(home), `${process.pid}.json`);
  try {
    await mkdir(folderOf(home), { recursive: true, mode: forOwner.folder });
    await rm(file, { force: true }); // of an earlier process of this number; one that is there keeps its rights
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

/** Ids of the models that are loaded, and the address of the server that holds each. */
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

/** The app of this user, where it answers. */
export async function runningApp({
  home,
}: LibraryPaths): Promise<{ url: string; token: string } | undefined> {
  for (const record of await recordsIn(home)) {
    if (record.isApp !== true) continue;
    const answer = await asked(record, "/api/v1/session").catch(() => undefined);
    if (SessionOfApp.safeParse(answer).success) return { url: record.url, token: record.token };
  }
  return undefined;
}

/** The token, where it does not leave this machine. */
export function tokenFor({ url, token }: ServerRecord): string | undefined {
  return isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, "")) ? token : undefined;
}

async function recordsIn(home: string): Promise<ServerRecord[]> {
  const names = await namesIn(folderOf(home));
  const records = await Promise.all(names.map((name) => readRecord(path.join(folderOf(home), name))));
  return records.filter((record) => record !== undefined);
}

/** Asks the server; one that does not answer in time is believed what it wrote down. */
async function loadedBy(record: ServerRecord): Promise<string[]> {
  const written = record.id === undefined ? [] : [record.id];
  try {
    const list = ModelList.safeParse(await asked(record, "/v1/models"));
    if (!list.success) return written;
    return list.data.data.filter((entry) => (entry.status ?? "loaded") === "loaded").map((entry) => entry.id);
  } catch {
    return written; // a certificate of its own, or a busy server: its process is alive
  }
}

/** The JSON that the server answers with; undefined for a refusal. */
async function asked(record: ServerRecord, route: string): Promise<unknown> {
  const token = tokenFor(record);
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const signal = AbortSignal.timeout(answerMaxMs);
  const answer = await fetch(record.url + route, { headers, signal, redirect: "error" });
  return answer.ok ? await answer.json() : undefined;
}

/** The record of a living process. What a killed one left is taken away; what is not this user's is left alone. */
async function readRecord(file: string): Promise<ServerRecord | undefined> {
  const text = await ownText(file);
  if (text === undefined) return undefined;
  const record = ServerRecord.safeParse(jsonOf(text));
  if (record.success && (await isOwnProcess(record.data.pid))) return record.data;
  await rm(file, { force: true });
  return undefined;
}

/** What a file of this user holds that nobody else may read or write. */
async function ownText(file: string): Promise<string | undefined> {
  try {
    // A link could lead to a record of somebody else's making, and Windows, which has none of this, knows no such flag.
    await using handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    const { uid, mode, size } = await handle.stat();
    const user = process.getuid?.();
    const isOwn = user === undefined || (uid === user && (mode & forOwner.others) === 0);
    return isOwn && size <= recordBytesMax ? await handle.readFile("utf8") : undefined;
  } catch {
    return undefined; // taken away meanwhile, or not for us
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // half written by a process that was killed
  }
}

/** Whether the process lives and is this user's: Linux says whose it is, elsewhere only one's own may be signalled. */
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
    return []; // no server has run yet, or the folder is not ours to read
  }
}

function folderOf(home: string): string {
  return path.join(home, "run");
}
