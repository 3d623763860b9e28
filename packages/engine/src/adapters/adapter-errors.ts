// The errors of adapters that cannot be used.
import { EngineError } from "../errors.ts";

export function damaged(file: string, reason: string): EngineError {
  return new EngineError("model_invalid", `${file} is damaged: ${reason}. Download or convert it again.`);
}

export function unsupported(file: string, reason: string): EngineError {
  return new EngineError("model_unsupported", `The adapter ${file} is not supported: ${reason}.`);
}

export function mismatch(file: string, reason: string): EngineError {
  return new EngineError(
    "adapter_mismatch",
    `The adapter ${file} does not fit the model: ${reason}. Load it with the model that it was made for.`,
  );
}
