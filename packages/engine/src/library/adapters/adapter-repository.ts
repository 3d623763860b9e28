// Repositories of the hub that hold an adapter: a LoRA adapter in the format of PEFT or mlx-lm, or a LoRA adapter or control vector as
// a GGUF file.
import { EngineError } from "../../base/errors.ts";
import type { HubFile, HubRepository, HubModel } from "../hub/hub-api.ts";
import type { HubHttp } from "../hub/http.ts";
import { peekHubModel } from "../hub/peek-hub-model.ts";
import type { LibraryOptions } from "../library-options.ts";

export interface AdapterRepository {
  repository: HubRepository;
  kind: "folder" | "gguf";
  files: readonly HubFile[];
}

const configName = "adapter_config.json";
/** PEFT's, and mlx-lm's. */
const weightNames = ["adapter_model.safetensors", "adapters.safetensors"];

/** Undefined for a repository without the settings of an adapter. Throws `model_unsupported` if its weights cannot be read. */
export function adapterFolder(repository: HubRepository): AdapterRepository | undefined {
  const { files, repo } = repository;
  const config = files.find((file) => file.path === configName);
  // Some repositories of models have a whole model beside its adapter.
  if (config === undefined || files.some((file) => file.path === "config.json")) return undefined;
  const weights = files.find((file) => weightNames.includes(file.path));
  if (weights !== undefined) return { repository, kind: "folder", files: [config, weights] };
  const message = `${repo} has an adapter without ${weightNames.join(" or ")}. Ingle does not read other formats of PEFT.`;
  throw new EngineError("model_unsupported", message, { details: { repo } });
}

/** The repository's adapter in GGUF; undefined if the file is a model. Only reads the file's header if there are signs of an adapter. */
export async function adapterFile(
  http: HubHttp,
  found: HubModel,
  options: LibraryOptions,
): Promise<AdapterRepository | undefined> {
  const { repository, group } = found;
  const names = [repository.repo, ...group.files.map(({ path }) => path)];
  if (!repository.isAdapter && !names.some((name) => /lora|adapter|control[-_. ]?vector|cvec/i.test(name)))
    return undefined;
  const { isAdapter } = await peekHubModel(http, found, options);
  return isAdapter ? { repository, kind: "gguf", files: group.files } : undefined;
}
