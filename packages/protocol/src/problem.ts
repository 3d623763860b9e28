// Turns the issues of a failed parse into the one problem that an error body can name. Used by the server.
import type { z } from "zod";

type Issue = z.core.$ZodIssue;

/** What a request got wrong: a sentence, and the field in the form `messages[0].content`; `null` is the body itself. */
export interface RequestIssue {
  message: string;
  param: string | null;
}

/**
 * The first problem of a failed parse, as deep as it can be told: inside a union (a message's content is a string or an
 * array of parts) it is the problem of the form that the sender evidently meant.
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
  const here: Found = { path: [...prefix, ...issue.path], message: issue.message };
  if (issue.code !== "invalid_union") return here;
  const inner = issue.errors
    .flatMap((issues) => issues.slice(0, 1))
    .map((first) => deepest(first, here.path));
  // A form whose problem lies deeper was recognised further: a wrong part beats "is not a string".
  return inner.reduce((best, found) => (found.path.length > best.path.length ? found : best), here);
}

function writePath(path: PropertyKey[]): string {
  return path.reduce<string>((written, key) => {
    if (typeof key === "number") return `${written}[${key}]`;
    return written === "" ? String(key) : `${written}.${String(key)}`;
  }, "");
}
