// Reduces the issues of a failed parse to the one that an error body names.
import type { z } from "zod";

type Issue = z.core.$ZodIssue;

/**
 * What is wrong with a request: a sentence, and the path of the field, such as `messages[0].content`; `null` means the body
 * itself.
 */
export interface RequestIssue {
  message: string;
  param: string | null;
}

/**
 * The first issue of a failed parse. Inside a union (a message's content is a string or an array of parts), it is the issue of
 * the option that the client evidently meant.
 */
export function firstIssue(error: z.ZodError): RequestIssue {
  const [first] = error.issues;
  if (first === undefined) return { message: "the request is invalid", param: null };
  const { path, message } = deepest(first, []);
  return { message, param: path.length === 0 ? null : writePath(path) };
}

interface Found {
  path: PropertyKey[];
  message: string;
}

function deepest(issue: Issue, prefix: PropertyKey[]): Found {
  const own: Found = { path: [...prefix, ...issue.path], message: issue.message };
  if (issue.code !== "invalid_union") return own;
  const inner = issue.errors.flatMap((issues) => issues.slice(0, 1)).map((first) => deepest(first, own.path));
  // The option with the deepest issue matched best: a wrong part beats "is not a string".
  return inner.reduce((best, found) => (found.path.length > best.path.length ? found : best), own);
}

function writePath(path: PropertyKey[]): string {
  return path.reduce<string>((written, key) => {
    if (typeof key === "number") return `${written}[${key}]`;
    return written === "" ? String(key) : `${written}.${String(key)}`;
  }, "");
}
