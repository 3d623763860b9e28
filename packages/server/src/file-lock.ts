// A lock for a file that several processes change: each begins with what the one before has written.
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { lock } from "proper-lockfile";

/** For about ten seconds: a change takes milliseconds. */
const retries = { retries: 50, factor: 1, minTimeout: 100, maxTimeout: 300, randomize: true };

/** Why a file cannot be locked, as a sentence. */
export class LockError extends Error {
  override readonly name = "LockError";
}

/** Makes the file's folder, and calls `change` while no other process that asks for this lock does. Throws LockError, and what it throws. */
export async function whileLocked<Result>(file: string, change: () => Promise<Result>): Promise<Result> {
  const folder = path.dirname(path.resolve(file));
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw new LockError(`The folder ${folder} cannot be made.`, { cause });
  });
  const release = await lock(file, { realpath: false, retries }).catch((cause: unknown) => {
    throw new LockError(`Another program is changing ${file}, or it cannot be written.`, { cause });
  });
  try {
    return await change();
  } finally {
    await release();
  }
}
