// Downloads a model in MLX's format from the hub, converts it to GGUF, and deletes the download.
//
//   downloads/mlx/<org>+<repo>+<commit>/    stays until the conversion is complete, so that an interrupted one continues
import { createHash, randomUUID } from "node:crypto";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { EngineError } from "../../errors.ts";
import { diskFailure } from "../disk-space.ts";
import { fileBytes, libraryPaths } from "../paths.ts";
import { downloadFiles, flatName, type HubSourceOptions } from "../hub/download-files.ts";
import type { HubFile, HubRepository } from "../hub/hub-api.ts";
import { hubSettings } from "../hub/hub-settings.ts";
import { HubHttp } from "../hub/http.ts";
import { readRange, RemoteFile } from "../hub/remote-file.ts";
import { retry, smallFailuresMax, TemporaryFailure } from "../retry.ts";
import { checkModel, convertModel } from "./convert-model.ts";
import type { MlxRepository } from "./mlx-model.ts";

/** The hub stores files of up to 10 MB in git; tokenizers are the largest. */
const smallBytesMax = 32 * 1024 * 1024;

/**
 * The path of the model's GGUF file. Throws as `downloadFromHub` and `convertModel`; downloaded parts stay for the next call.
 */
export async function convertFromHub(
  id: string,
  { repository, files }: MlxRepository,
  options: HubSourceOptions = {},
): Promise<string> {
  const { downloadsDir } = libraryPaths(options.env);
  const { repo, commit } = repository;
  const folder = path.join(downloadsDir, "mlx", `${flatName(repo)}+${commit.slice(0, 12)}`);
  const targetOf = (file: HubFile): string => path.join(folder, file.path);
  const missing = async (wanted: readonly HubFile[]): Promise<HubFile[]> => {
    const sizes = await Promise.all(wanted.map((file) => fileBytes(targetOf(file))));
    return wanted.filter((file, index) => sizes[index] !== file.sizeBytes);
  };
  const model = { id, folder, from: `${repo}@${commit}`, isKept: false };
  for (const file of await missing(files.filter(({ sha256 }) => sha256 === undefined)))
    await downloadSmall(file, repository, targetOf(file), options);
  // Before gigabytes are downloaded in vain.
  await checkModel(model);
  const large = files.filter(({ sha256 }) => sha256 !== undefined);
  await downloadFiles({ repository, files: large, targetOf, missing }, options, async () => {});
  const file = await convertModel(model, options);
  await rm(folder, { recursive: true, force: true });
  return file;
}

/** Downloads a file that the hub stores in git, in one request. Git's object id is its checksum. */
async function downloadSmall(
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
