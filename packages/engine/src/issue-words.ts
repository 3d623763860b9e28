// What is wrong with an option, in words for the person who wrote it: they follow the option's name. Used where options are checked.
import type { z } from "zod";
import { EngineError } from "./errors.ts";

/** What zod says where a rule has no sentence of its own. */
const zodsOwn = /^(Invalid|Too) /;

/** Where zod's own sentence speaks of types and comparisons, another one; else what the rule says. */
export function issueWords(issue: z.core.$ZodIssue | undefined): string {
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

/** The error for options that broke a rule, with the path of the option in `details.param`. */
export function invalidOption(cause: z.ZodError, issue: z.core.$ZodIssue | undefined): EngineError {
  const param = issue?.path.join(".") ?? "";
  const words = issueWords(issue);
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
