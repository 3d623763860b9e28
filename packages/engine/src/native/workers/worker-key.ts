// The secret that servers and workers share: only machines with the secret can connect. One machine creates it, it is copied to the
// others once, and each keeps it in a file that only its owner may read.
import type { Stats } from "node:fs";
import { createHash, randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { errorCode, EngineError } from "../../base/errors.ts";
import { libraryPaths } from "../../base/home.ts";

/** Identifies a key, for people and for secret scanners. */
const prefix = "ingle-worker-";
/** The size of the hash of the tunnel's cipher suite. */
const keyBytes = 32;
/** A larger file cannot be a key file. */
const fileBytesMax = 4096;

export interface WorkerKey {
  /** The form in which a key is copied between machines. */
  readonly text: WorkerKeyText;
  readonly secret: Buffer;
  /** Identifies the key on the wire, unencrypted. It reveals nothing about the secret. */
  readonly id: string;
}

/** A key as one line of text. */
type WorkerKeyText = string;

export function makeWorkerKey(): WorkerKeyText {
  return prefix + randomBytes(keyBytes).toString("base64url");
}

/** Parses a key. Throws `invalid_request`; the message never contains a part of the key. */
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
      `This is not a worker key: a key begins with ${prefix} and has ${keyBytes * 8} bits. ` +
        "Copy the whole line that `ingle worker --pair` printed.",
    );
  }
  const id = createHash("sha256").update("ingle worker key id\0").update(secret).digest("hex").slice(0, 16);
  return { text: line, secret, id };
}

/** The default path of the key file. */
export function workerKeyFile(env: NodeJS.ProcessEnv = process.env): string {
  return path.join(libraryPaths(env).configDir, "worker.key");
}

/** Reads a key file and whether other users can read it. Throws `invalid_request`; `details.isMissing` is 1 if there is no such file. */
export async function readWorkerKey(file: string): Promise<WorkerKey & { isOpenToOthers: boolean }> {
  let text: string;
  let isOpenToOthers: boolean;
  try {
    const found = await stat(file);
    if (found.size > fileBytesMax)
      throw new Error(`The file has ${found.size} bytes; a key file has at most ${fileBytesMax}.`);
    isOpenToOthers = isReadableByOthers(found, process.getuid?.());
    text = await readFile(file, "utf8");
  } catch (cause) {
    throw new EngineError(
      "invalid_request",
      `No worker key can be read from ${file}. ` +
        "Run `ingle worker --pair` on one of the two machines, and the command that it prints on the other one.",
      { cause, details: { isMissing: errorCode(cause) === "ENOENT" ? 1 : 0 } },
    );
  }
  const line = text.split("\n").find((each) => each.trim() !== "" && !each.startsWith("#"));
  return { ...parseWorkerKey(line ?? ""), isOpenToOthers };
}

/** Writes a key to a file that only its owner can read. Throws `invalid_request` for an invalid key. */
export async function saveWorkerKey(file: string, text: WorkerKeyText): Promise<void> {
  parseWorkerKey(text);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `${text.trim()}\n`, { mode: 0o600 });
  await chmod(file, 0o600); // `mode` does not apply to an existing file
}

/** Permission bits that let someone other than the owner read a file: members of its group, and everyone. */
const readable = { byGroup: 0o040, byAll: 0o004 };

/**
 * Whether users other than `user` (`process.getuid?.()`) can read a file. A file that someone else owns is readable only through its group, as the
 * Secrets of Kubernetes are, so the group's permission is expected there. Always false on Windows, which has no such permissions and no
 * user ids.
 */
export function isReadableByOthers(
  { mode, uid }: Pick<Stats, "mode" | "uid">,
  user: number | undefined,
): boolean {
  if (user === undefined) return false;
  const rights = uid === user ? readable.byGroup | readable.byAll : readable.byAll;
  return (mode & rights) !== 0;
}
