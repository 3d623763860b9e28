// The secret of a user's state files: only who has it can write one that is believed. It stays in a file that only its owner may read.
import { createHash, randomBytes } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { writeAtomically } from "../base/atomic-file.ts";
import { errorCode, EngineError } from "../base/errors.ts";
import { libraryPaths } from "../base/home.ts";

const secretBytes = 32;
/** Servers that share a folder of states are given the same text instead of a file. */
const variable = "INGLE_STATE_KEY";
const variableCharsMin = 32;

/**
 * The secret of `INGLE_STATE_KEY`, or of `state.key` in the user's config folder, which the first use creates. Throws `invalid_request` if
 * the variable is too short, and if the file is damaged, or can neither be read nor created.
 */
export async function stateSecret(env: NodeJS.ProcessEnv = process.env): Promise<Buffer> {
  const text = env[variable] ?? "";
  if (text !== "") {
    if (text.length >= variableCharsMin) return createHash("sha256").update(text).digest();
    throw new EngineError("invalid_request", `${variable} needs at least ${variableCharsMin} characters.`);
  }
  const file = path.join(libraryPaths(env).configDir, "state.key");
  try {
    return (await readSecret(file)) ?? (await createSecret(file));
  } catch (cause) {
    if (EngineError.is(cause)) throw cause;
    const message = `${file}, the secret of files with computed state, cannot be read or created. Set ${variable} instead, or keep no state.`;
    throw new EngineError("invalid_request", message, { cause });
  }
}

async function readSecret(file: string): Promise<Buffer | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
  const secret = Buffer.from(text.trim(), "base64url");
  if (secret.length === secretBytes) return secret;
  throw new EngineError(
    "invalid_request",
    `${file} is damaged. Delete it: files with computed state are then computed again.`,
  );
}

async function createSecret(file: string): Promise<Buffer> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await writeAtomically(file, `${randomBytes(secretBytes).toString("base64url")}\n`, 0o600);
  // Of several that are created at the same time, the last one counts.
  return (await readSecret(file)) ?? (await createSecret(file));
}
