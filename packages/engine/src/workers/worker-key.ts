// The secret that machines share which compute for each other: who has it is trusted, who has not gets nothing. Made by one
// of them, copied once, and kept in a file that only its owner may read.
import { createHash, randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { EngineError } from "../errors.ts";
import { isReadableByOthers } from "../key-file-rights.ts";
import { libraryPaths } from "../library/paths.ts";

/** So that a key is known as one wherever it turns up, by people and by scanners for secrets. */
const prefix = "ingle-worker-";
/** As many bits as the tunnel's cipher can use of them. */
const keyBytes = 32;
/** A file that is longer is something else. */
const fileBytesMax = 4096;

export interface WorkerKey {
  /** As it is copied from one machine to the other. */
  readonly text: WorkerKeyText;
  readonly secret: Buffer;
  /** Names the key on the wire, in the clear: it tells nothing of the secret. */
  readonly id: string;
}

/** The key as a line of text for another machine. */
export type WorkerKeyText = string;

export function makeWorkerKey(): WorkerKeyText {
  return prefix + randomBytes(keyBytes).toString("base64url");
}

/** Throws `invalid_request`; the message never holds a part of the key. */
export function parseWorkerKey(text: WorkerKeyText): WorkerKey {
  const line = text.trim();
  const secret = Buffer.from(line.slice(prefix.length), "base64url");
  const isWhole =
    line.startsWith(prefix) &&
    secret.length === keyBytes &&
    secret.toString("base64url") === line.slice(prefix.length);
  if (!isWhole) {
    throw new EngineError(
      "invalid_request",
      `This is not a worker key: one begins with ${prefix} and has ${keyBytes * 8} bits. ` +
        "Copy the whole line that `ingle worker --pair` has printed.",
    );
  }
  const id = createHash("sha256").update("ingle worker key id\0").update(secret).digest("hex").slice(0, 16);
  return { text: line, secret, id };
}

/** Where a machine keeps its key when nothing else is said. */
export function workerKeyFile(env: NodeJS.ProcessEnv = process.env): string {
  return path.join(libraryPaths(env).configDir, "worker.key");
}

/** What the file holds, and whether others than its owner may read it. Throws `invalid_request`; `isMissing` is 1 without a file. */
export async function readWorkerKey(file: string): Promise<WorkerKey & { isOpenToOthers: boolean }> {
  let text: string;
  let isOpenToOthers: boolean;
  try {
    const found = await stat(file);
    if (found.size > fileBytesMax) throw new Error(`It has ${found.size} bytes.`);
    isOpenToOthers = isReadableByOthers(found, process.getuid?.());
    text = await readFile(file, "utf8");
  } catch (cause) {
    throw new EngineError(
      "invalid_request",
      `No worker key can be read from ${file}. ` +
        "Run `ingle worker --pair` on one of the two machines, and on the other one what it prints.",
      { cause, details: { isMissing: isMissing(cause) ? 1 : 0 } },
    );
  }
  const line = text.split("\n").find((each) => each.trim() !== "" && !each.startsWith("#"));
  return { ...parseWorkerKey(line ?? ""), isOpenToOthers };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/** Writes a key for its owner alone. Throws `invalid_request` for what is no key. */
export async function saveWorkerKey(file: string, text: WorkerKeyText): Promise<void> {
  parseWorkerKey(text);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `${text.trim()}\n`, { mode: 0o600 });
  await chmod(file, 0o600); // of a file that was there before
}
