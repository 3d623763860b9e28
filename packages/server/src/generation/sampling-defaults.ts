// The sampling of a request where it says nothing: that of the model's load, else the server's, else the variant's, else what the
// model's makers recommend. The engine has the rest.
import type { GenerationRequest } from "@ingle/engine";
import type { ServerConfig } from "../config.ts";
import type { Lease } from "../models/slot/slot-interface.ts";
import { variants, type VariantName } from "../variants.ts";
import { toSampling } from "./sampling-fields.ts";

/** Defaults that a server sets, by the engine's names. */
type SetSampling = Partial<Omit<ServerConfig["sampling"], "noModelSampling">>;

/** The server's defaults. */
export interface ServerSampling {
  set: SetSampling;
  /** Whether what a model's makers recommend counts. */
  followsModels: boolean;
}

export function serverSampling({ noModelSampling, ...set }: ServerConfig["sampling"]): ServerSampling {
  return { set, followsModels: !noModelSampling };
}

/** The defaults of a request to the leased model. */
export function defaultsFor(
  { model, sampling: loaded = {} }: Pick<Lease, "model" | "sampling">,
  { sampling, variant }: { sampling: ServerSampling; variant: VariantName },
): Partial<GenerationRequest> {
  const recommended = sampling.followsModels ? model.info.sampling : {};
  return { ...recommended, ...variants[variant].sampling, ...present(sampling.set), ...toSampling(loaded) };
}

/** The request with defaults in place of what is absent. */
export function withDefaults<Request extends object>(request: Request, defaults: object): Request {
  return { ...defaults, ...present(request) };
}

/** Without the absent fields. */
function present<Fields extends object>(fields: Fields): Fields {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- absent and undefined are the same here
  return Object.fromEntries(entries) as Fields;
}
