// The sampling of a request where it says nothing: that of the model's load, else the server's, else the variant's, else what the
// model's makers recommend. The engine has the rest.
import type { GenerationRequest, RecommendedSampling } from "@ingle/engine";
import type { ServerConfig } from "../config.ts";
import type { Lease } from "../models/registry.ts";
import { variants, type VariantName } from "../variants.ts";
import { toSampling } from "./engine-fields.ts";

/** Defaults that a server sets, by the engine's names. */
export type SetSampling = Pick<
  GenerationRequest,
  "temperature" | "topK" | "topP" | "minP" | "seed" | "maxTokens"
>;

/** The server's defaults. */
export interface ServerSampling {
  set: SetSampling;
  /** Whether what a model's makers recommend counts. */
  followsModels: boolean;
}

export function serverSampling({
  noModelSampling,
  temperature,
  topKSet: topK,
  topP,
  minP,
  seed,
  maxTokens,
}: ServerConfig["sampling"]): ServerSampling {
  return { set: { temperature, topK, topP, minP, seed, maxTokens }, followsModels: !noModelSampling };
}

/** The defaults of a request to the leased model. */
export function defaultsFor(
  { model, sampling: loaded = {} }: Pick<Lease, "model" | "sampling">,
  { sampling, variant }: { sampling: ServerSampling; variant: VariantName },
): Partial<GenerationRequest> {
  const recommended = sampling.followsModels ? model.info.sampling : {};
  const { topK } = variants[variant];
  const ofLoad: Partial<GenerationRequest> = toSampling(loaded);
  return { ...recommended, topK, ...present(sampling.set), ...present(ofLoad) };
}

/** The request with defaults in place of what is absent. */
export function withDefaults<Request extends object>(request: Request, defaults: object): Request {
  return { ...defaults, ...present(request) };
}

/** What the names of the engine's options are in a request. */
const fieldOf: Readonly<Record<keyof RecommendedSampling, string>> = {
  samplers: "samplers",
  topK: "top_k",
  topP: "top_p",
  minP: "min_p",
  xtcProbability: "xtc_probability",
  xtcThreshold: "xtc_threshold",
  temperature: "temperature",
  repeatLastN: "repeat_last_n",
  repetitionPenalty: "repeat_penalty",
  mirostat: "mirostat",
  mirostatTau: "mirostat_tau",
  mirostatEta: "mirostat_eta",
};

/** What a model's makers recommend, as the fields of a request. */
export function toFields(sampling: RecommendedSampling): Record<string, unknown> {
  const values: Readonly<Record<string, unknown>> = sampling;
  return Object.fromEntries(
    Object.entries(fieldOf).flatMap(([name, field]) =>
      values[name] === undefined ? [] : [[field, values[name]]],
    ),
  );
}

/** Without the absent fields. */
function present<Fields extends object>(fields: Fields): Fields {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- absent and undefined are the same here
  return Object.fromEntries(entries) as Fields;
}
