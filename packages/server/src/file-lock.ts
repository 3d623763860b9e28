// A lock for a file that several processes change: each begins with what the one before has written.
import { access, constants, mkdir } from "node:fs/promises";
import path from "node:path";
import { lock } from "proper-lockfile";
import { whyUnwritable } from "./unwritable.ts";

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
    throw new LockError(`The folder ${folder} cannot be made: ${whyUnwritable(folder, cause)}.`, { cause });
  });
  const unwritable = (cause: unknown): LockError =>
    new LockError(`${file} cannot be written: ${whyUnwritable(folder, cause)}.`, { cause });
  // The lock would try again for ten seconds.
  await access(folder, constants.W_OK).catch((cause: unknown) => {
    throw unwritable(cause);
  });
  const release = await lock(file, { realpath: false, retries }).catch((cause: unknown) => {
    const isHeld = cause instanceof Error && "code" in cause && cause.code === "ELOCKED";
    throw isHeld ? new LockError(`Another program is changing ${file}.`, { cause }) : unwritable(cause);
  });
  try {
    return await change();
  } finally {
    await release();
  }
}
