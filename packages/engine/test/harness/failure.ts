// The error of a call that must fail.
import { EngineError } from "../../src/base/errors.ts";

/** The EngineError that the call rejects with. Throws if it succeeds, or rejects with another error. */
export async function failure(call: Promise<unknown>): Promise<EngineError> {
  const error = await call.then(
    () => new Error("The call should have failed."),
    (reason: unknown) => reason,
  );
  if (!EngineError.is(error)) throw error;
  return error;
}
