// Facts of a model on the hub, from the first bytes of its file.
import type { LibraryOptions } from "../library-options.ts";
import type { HubModel } from "./hub-api.ts";
import { peekFacts, type ModelFacts } from "../model-facts.ts";
import { retry, smallFailuresMax } from "../retry.ts";
import type { HubHttp } from "./http.ts";
import { readRange as readRemote, RemoteFile } from "./remote-file.ts";

/** Throws as `peekFacts` and `RemoteFile.open`. */
export async function peekHubModel(
  http: HubHttp,
  { repository, group }: HubModel,
  options: LibraryOptions,
): Promise<ModelFacts> {
  const { signal, wait } = options;
  const { path = "", sizeBytes = 0 } = group.files[0] ?? {};
  const remote = new RemoteFile(http, { repo: repository.repo, commit: repository.commit, path });
  const readRange = async (start: number, end: number): Promise<Uint8Array> => {
    const until = Math.min(end, sizeBytes);
    if (start >= until) return new Uint8Array(0);
    return await retry(() => readRemote(remote, { start, end: until, signal }), {
      failuresMax: smallFailuresMax,
      wait,
      signal,
    });
  };
  const facts = await peekFacts(`${repository.repo}/${path}`, readRange);
  return { ...facts, quantization: facts.quantization ?? group.quantization };
}
