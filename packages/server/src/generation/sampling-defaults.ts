// What a request gets where it says nothing: what its profile says, else the model's load, else the model's settings, else the server, else
// the variant, else what the model's makers recommend. The engine has the rest.
import type { GenerationRequest } from "@ingle/engine";
import type { ReplyDefaults } from "@ingle/protocol";
import type { ServerConfig } from "../config.ts";
import type { Lease } from "../models/slot/slot-interface.ts";
import { present } from "../present.ts";
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
  { model, defaults: own = {} }: Pick<Lease, "model" | "defaults">,
  { sampling, variant }: { sampling: ServerSampling; variant: VariantName },
): Partial<GenerationRequest> {
  const recommended = sampling.followsModels ? model.info.sampling : {};
  return {
    ...recommended,
    ...variants[variant].sampling,
    ...present(sampling.set),
    ...thinkingDefaults(own),
    ...toSampling(own.sampling ?? {}),
  };
}

/** Whether and how long the model thinks in chats that do not say. */
export function thinkingDefaults(own: ReplyDefaults): { thinking?: boolean; thinkingDefault?: number } {
  return present({ thinking: own.thinking, thinkingDefault: own.thinking_budget_tokens });
}

/** The request with defaults in place of what is absent. */
export function withDefaults<Request extends object>(request: Request, defaults: object): Request {
  return { ...defaults, ...present(request) };
}

/** A chat without a system message gets the model's, if its settings have one. */
export function withSystemPrompt(
  request: GenerationRequest,
  { defaults }: Pick<Lease, "defaults">,
): GenerationRequest {
  const content = defaults?.system_prompt;
  if (content === undefined || request.messages === undefined) return request;
  const isTold = request.messages.some(({ role }) => role === "system" || role === "developer");
  return isTold ? request : { ...request, messages: [{ role: "system", content }, ...request.messages] };
}
