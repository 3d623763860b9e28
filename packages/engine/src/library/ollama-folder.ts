// Reads the models of Ollama, which names files by their contents:
//
//   manifests/<registry>/<namespace>/<name>/<tag>   JSON: the layers of a model, with their digests
//   blobs/sha256-<digest>                           a layer: a GGUF file, a template, parameters, a license …
import { readFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { z } from "zod";
import { fileBytes } from "./durable-files.ts";
import { filesBelow } from "./model-folders.ts";

/** A file that has to have this digest. */
export interface DigestedFile {
  path: string;
  sizeBytes: number;
  /** In hexadecimal; null if its program does not record one. */
  sha256: string | null;
}

/** A model of another program, to be taken over. */
export interface OtherModel {
  id: string;
  /** One file, or all parts of a split model in order. */
  files: DigestedFile[];
  mmproj: DigestedFile | undefined;
  quantization: string | undefined;
}

const Layer = z.looseObject({
  mediaType: z.string(),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  size: z.int().nonnegative(),
});
type Layer = z.infer<typeof Layer>;
const Manifest = z.looseObject({ layers: z.array(Layer).max(1_000) });

const kinds = {
  model: "application/vnd.ollama.image.model",
  projector: "application/vnd.ollama.image.projector",
  adapter: "application/vnd.ollama.image.adapter",
};
/** A manifest is some hundred bytes long. */
const manifestBytesMax = 1024 * 1024;
/** registry, namespace, name and tag. */
const manifestLevels = 3;

/** The models whose files are complete. Those with an adapter are omitted: without it, they would be another model. */
export async function readOllamaModels(env: NodeJS.ProcessEnv): Promise<OtherModel[]> {
  const models = await Promise.all(ollamaFolders(env).map(readFolder));
  return models.flat();
}

/** That of the user, and on Linux that of the service which its installer makes. */
function ollamaFolders(env: NodeJS.ProcessEnv): string[] {
  const named = env["OLLAMA_MODELS"] ?? "";
  if (named !== "") return [named];
  const home = [env["HOME"], env["USERPROFILE"]].find((each = "") => each !== "") ?? os.homedir();
  const own = path.join(home, ".ollama", "models");
  return process.platform === "linux" ? [own, "/usr/share/ollama/.ollama/models"] : [own];
}

async function readFolder(folder: string): Promise<OtherModel[]> {
  const root = path.join(folder, "manifests");
  const found = await Promise.all(
    (await filesBelow(root, manifestLevels)).map(async (name) => {
      const layers = await readLayers(path.join(root, name));
      return layers === undefined ? undefined : await toModel(name.split("/"), layers, folder);
    }),
  );
  return found.filter((model) => model !== undefined);
}

/** Undefined for a file that is no manifest. */
async function readLayers(file: string): Promise<Layer[] | undefined> {
  const bytes = await fileBytes(file);
  if (bytes === undefined || bytes > manifestBytesMax) return undefined;
  try {
    return Manifest.parse(JSON.parse(await readFile(file, "utf8"))).layers;
  } catch {
    return undefined; // another program's file: Ollama itself says what is wrong with it
  }
}

async function toModel(
  names: readonly string[],
  layers: readonly Layer[],
  folder: string,
): Promise<OtherModel | undefined> {
  const ofKind = (kind: string): Layer[] => layers.filter(({ mediaType }) => mediaType === kind);
  const [model, ...more] = ofKind(kinds.model);
  const [projector] = ofKind(kinds.projector);
  if (model === undefined || more.length > 0 || ofKind(kinds.adapter).length > 0) return undefined;
  const toFile = ({ digest, size }: Layer): DigestedFile => {
    const sha256 = digest.slice("sha256:".length);
    return { path: path.join(folder, "blobs", `sha256-${sha256}`), sizeBytes: size, sha256 };
  };
  const files = [toFile(model)];
  const mmproj = projector === undefined ? undefined : toFile(projector);
  const sizes = await Promise.all(
    [...files, ...(mmproj === undefined ? [] : [mmproj])].map(
      async (file) => (await fileBytes(file.path)) === file.sizeBytes,
    ),
  );
  if (sizes.includes(false)) return undefined;
  return { id: ollamaId(names), files, mmproj, quantization: undefined };
}

/** `qwen3:4b`, `llama3.2` for its latest tag, and `org/repo:tag` for one that is not in Ollama's own library. */
function ollamaId(names: readonly string[]): string {
  const [namespace = "", name = "", tag = ""] = names.slice(1);
  if (namespace !== "library") return `${namespace}/${name}:${tag}`;
  return tag === "latest" ? name : `${name}:${tag}`;
}
