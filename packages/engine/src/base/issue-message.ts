// Explains an issue of zod to people, as a phrase that follows the option's name.
import type { z } from "zod";
import { EngineError } from "./errors.ts";

/** The start of zod's default messages, for rules without a message of their own. */
const zodsOwn = /^(Invalid|Too) /;

/** The rule's own message; zod's default messages are replaced by plainer ones. */
export function issueMessage(issue: z.core.$ZodIssue | undefined): string {
  if (issue !== undefined && !zodsOwn.test(issue.message)) return issue.message;
  if (issue?.code === "too_small")
    return bound(issue.origin, issue.minimum, issue.inclusive, "at least", "above");
  if (issue?.code === "too_big")
    return bound(issue.origin, issue.maximum, issue.inclusive, "at most", "below");
  if (issue?.code === "invalid_type")
    return `must be ${typeNames[issue.expected] ?? `of type ${issue.expected}`}`;
  if (issue?.code === "invalid_value") return `must be ${issue.values.map(String).join(" or ")}`;
  return issue?.message ?? "";
}

/** The `invalid_request` error for an option, with its path in `details.param`. */
export function invalidOption(cause: z.ZodError, issue: z.core.$ZodIssue | undefined): EngineError {
  const param = issue?.path.join(".") ?? "";
  const words = issueMessage(issue);
  return new EngineError("invalid_request", param === "" ? words : `${param}: ${words}`, {
    cause,
    details: { param },
  });
}

const typeNames: Readonly<Record<string, string>> = {
  int: "a whole number",
  number: "a number",
  string: "a text",
  boolean: "true or false",
  array: "a list",
  object: "an object",
};

function bound(
  origin: string,
  limit: number | bigint,
  isInclusive: boolean | undefined,
  atLimit: string,
  beyond: string,
): string {
  const comparison = `${isInclusive === false ? beyond : atLimit} ${limit}`;
  if (origin === "string") return `must have ${comparison} characters`;
  if (origin === "array") return `must have ${comparison} entries`;
  return `must be ${comparison}`;
}
