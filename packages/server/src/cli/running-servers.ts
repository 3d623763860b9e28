// Which models are loaded now, by any server of this user: each writes down where it listens, and is asked. Used by serve,
// list, remove, and by the commands that manage a server.
//
//   run/<process id>.json    { pid, url, id }
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { LibraryPaths } from "@ingle/engine";
import { z } from "zod";

const ServerRecord = z.object({ pid: z.int().positive(), url: z.string(), id: z.string() });
type ServerRecord = z.infer<typeof ServerRecord>;
const ModelList = z.object({ data: z.array(z.object({ id: z.string(), status: z.string().optional() })) });

/** A server of this machine answers at once, or is too busy to be waited for. */
const answerMaxMs = 1_000;

/** Writes the record, until it is disposed. A library that cannot be written does not keep anybody from serving. */
export async function announceServer(
  { home }: LibraryPaths,
  server: Omit<ServerRecord, "pid">,
): Promise<AsyncDisposable> {
  const file = path.join(folderOf(home), `${process.pid}.json`);
  try {
    await mkdir(folderOf(home), { recursive: true });
    await writeFile(file, JSON.stringify({ pid: process.pid, ...server }));
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

/** Where the servers of this user listen. */
export async function runningServers({ home }: LibraryPaths): Promise<string[]> {
  return (await recordsIn(home)).map(({ url }) => url);
}

async function recordsIn(home: string): Promise<ServerRecord[]> {
  const names = await namesIn(folderOf(home));
  const records = await Promise.all(names.map((name) => readRecord(path.join(folderOf(home), name))));
  return records.filter((record) => record !== undefined);
}

/** Asks the server; one that wants a key, or does not answer in time, is believed what it wrote down. */
async function loadedBy({ url, id }: ServerRecord): Promise<string[]> {
  try {
    const answer = await fetch(`${url}/v1/models`, { signal: AbortSignal.timeout(answerMaxMs) });
    if (!answer.ok) return [id];
    const list = ModelList.safeParse(await answer.json());
    if (!list.success) return [id];
    return list.data.data.filter((entry) => (entry.status ?? "loaded") === "loaded").map((entry) => entry.id);
  } catch {
    return [id]; // a certificate of its own, or a busy server: its process is alive
  }
}

/** The record of a living process. What a killed one left is taken away. */
async function readRecord(file: string): Promise<ServerRecord | undefined> {
  const record = ServerRecord.safeParse(jsonOf(await readFile(file, "utf8").catch(() => "")));
  if (record.success && isAlive(record.data.pid)) return record.data;
  await rm(file, { force: true });
  return undefined;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // half written by a process that was killed
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user may not be signalled, but is there.
    return error instanceof Error && Reflect.get(error, "code") === "EPERM";
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
