// Why a schema is refused.
import { SchemaError } from "./rules.ts";

/** The schema itself is invalid, or too large. */
export function wrong(message: string): SchemaError {
  return new SchemaError("wrong", message);
}

/** The schema is valid, but a part of it cannot be enforced. `message` names the keyword. */
export function cannotEnforce(message: string): SchemaError {
  return new SchemaError("cannot_enforce", `${message}: remove it, or set strict to false`);
}
