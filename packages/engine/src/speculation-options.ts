// Converts the options that choose a drafter for the addon.
import { EngineError } from "./errors.ts";
import type { CheckedLoadOptions } from "./load.ts";
import type { NativeContextOptions, NativeEngineOptions, NativeModel } from "./native.ts";

/** Whether the model's layers for multi-token prediction draft. Not over a network. */
export function mtpOf({ speculation, draftModel, rpc }: CheckedLoadOptions): NativeContextOptions["mtp"] {
  if (speculation === "mtp") return "on";
  return speculation === undefined && draftModel === undefined && rpc === undefined ? "auto" : "off";
}

/** Throws `invalid_request` for two drafters, and for a model whose drafts cannot be taken back. */
export function speculationOf(
  { info }: NativeModel,
  options: CheckedLoadOptions,
): Pick<NativeEngineOptions, "speculation" | "draftTokens"> {
  const { speculation = "off", draftModel, draftTokens = 0 } = options;
  const param = draftModel === undefined ? "speculation" : "draftModel";
  if (draftModel !== undefined && speculation !== "off") {
    throw new EngineError("invalid_request", `${param}: choose a draft model or speculation, not both.`, {
      details: { param },
    });
  }
  if (!info.rollsBack && (draftModel !== undefined || speculation !== "off")) {
    throw new EngineError(
      "invalid_request",
      `${param}: ${info.architecture} models do not support drafts, because the engine cannot roll back their recurrent state. ` +
        "Leave the option out for this model.",
      { details: { param } },
    );
  }
  if (draftModel !== undefined) return { speculation: "draft-model", draftTokens };
  return { speculation: speculation === "ngram" ? "ngram" : "off", draftTokens };
}
