// Downloads files that the hub stores in git.
import { createHash, randomUUID } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { EngineError } from "../../base/errors.ts";
import { diskFailure } from "../disk-space.ts";
import { retry, smallFailuresMax, TemporaryFailure } from "../retry.ts";
import type { HubSourceOptions } from "./download-files.ts";
import type { HubFile, HubRepository } from "./hub-api.ts";
import { hubSettings } from "./hub-settings.ts";
import { HubHttp } from "./http.ts";
import { readRange, RemoteFile } from "./remote-file.ts";

/** The hub stores files of up to 10 MB in git; tokenizers are the largest. */
const smallBytesMax = 32 * 1024 * 1024;

/** Downloads a file that the hub stores in git, in one request. Git's object id is its checksum. */
export async function downloadSmall(
  file: HubFile,
  { repo, commit }: HubRepository,
  target: string,
  { env, wait, signal }: HubSourceOptions,
): Promise<void> {
  if (file.sizeBytes > smallBytesMax)
    throw wrong(repo, file, "is larger than files that the hub stores in git");
  using http = new HubHttp(hubSettings(env ?? process.env));
  const remote = new RemoteFile(http, { repo, commit, path: file.path });
  const range = { start: 0, end: file.sizeBytes, signal };
  const read = async (): Promise<Uint8Array> => {
    const bytes = file.sizeBytes === 0 ? new Uint8Array(0) : await readRange(remote, range);
    if (bytes.length === file.sizeBytes) return bytes;
    throw new TemporaryFailure(wrong(repo, file, "has fewer bytes than announced"));
  };
  const bytes = await retry(read, { failuresMax: smallFailuresMax, wait, signal });
  const oid = createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
  if (file.gitOid !== oid) throw wrong(repo, file, "does not match the announced checksum");
  try {
    await mkdir(path.dirname(target), { recursive: true });
    const part = `${target}.${randomUUID()}.part`;
    await writeFile(part, bytes);
    await rename(part, target);
  } catch (error) {
    throw diskFailure(error, path.dirname(target));
  }
}

function wrong(repo: string, { path: name }: HubFile, what: string): EngineError {
  const message = `${name} of ${repo} ${what}. Start again; if that does not help, is HF_ENDPOINT a faithful mirror?`;
  return new EngineError("integrity_failed", message, { details: { repo, file: name } });
}
