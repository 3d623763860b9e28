// Parses the name of a model as the user writes it. locate.ts checks whether the model exists.
//
//   ./model.gguf  /models/some-folder  C:\models\x.gguf    a file or folder on this machine
//   org/repo  org/repo:Q4_K_M  org/repo:file-name          a repository of the hub, and which of its models
//   npm:package@1.0.0                                      a package of the npm registry
//   anything else                                          an alias, or the id of an installed model
import { EngineError } from "../base/errors.ts";
import { resolveUserPath } from "../base/home.ts";

export type ModelSpec =
  /** `path` is absolute. */
  | { kind: "file"; path: string }
  /** `choice` is a quantization, or a file's name without its extension; undefined chooses automatically. */
  | { kind: "hub"; repo: string; choice: string | undefined }
  | { kind: "npm"; name: string; version: string }
  | { kind: "name"; name: string };

/** Longer than any path, and than the hub's ids, whose parts have at most 96 characters. */
const specLengthMax = 4096;

/** The hub's ids: no part starts with a dot, so none is `..`. */
const hubPattern =
  /^(?<repo>[A-Za-z0-9_][\w.-]{0,95}\/[A-Za-z0-9_][\w.-]{0,95})(?::(?<choice>[\w.-]{1,200}))?$/;
const npmPattern = /^(?<name>(?:@[a-z0-9-~][a-z0-9-._~]*\/)?[a-z0-9-~][a-z0-9-._~]*)@(?<version>[^@]+)$/;
/** An exact version: the file of a range could change. */
const versionPattern = /^\d+\.\d+\.\d+(?:-[\w.-]+)?(?:\+[\w.-]+)?$/;
/** Names that need no escaping in shells, URLs and file names. */
const aliasPattern = /^[A-Za-z0-9][\w.-]{0,99}$/;

/** Throws `invalid_request` for an invalid name. Relative paths are resolved from `cwd`. */
export function parseModelSpec(text: string, cwd: string = process.cwd()): ModelSpec {
  if (text === "" || text.length > specLengthMax || text.includes("\0")) throw unreadable(text);
  if (text.startsWith("npm:")) return parseNpm(text);
  const hub = hubPattern.exec(text)?.groups;
  // A name that ends in .gguf is a path, even if it looks like org/repo; after a colon it is a file of a repository.
  if (hub !== undefined && (hub["choice"] !== undefined || !isGgufName(text))) {
    const choice = hub["choice"]?.replace(/\.gguf$/i, "");
    return { kind: "hub", repo: hub["repo"] ?? "", choice };
  }
  if (looksLikePath(text)) return { kind: "file", path: resolveUserPath(text, cwd) };
  return { kind: "name", name: text };
}

/** Throws `invalid_request` for an alias that is invalid, or is one of these ids. */
export function checkAlias(alias: string, ids: readonly string[]): void {
  if (ids.includes(alias)) {
    const message = `"${alias}" is the id of a model and cannot be an alias.`;
    throw new EngineError("invalid_request", message, { details: { alias, param: "alias" } });
  }
  if (aliasPattern.test(alias) && !isGgufName(alias)) return;
  const message = `"${alias}" cannot be an alias. An alias has letters, digits, ".", "_" and "-", and does not end in ".gguf".`;
  throw new EngineError("invalid_request", message, { details: { alias, param: "alias" } });
}

export function isGgufName(name: string): boolean {
  return /[^/\\]\.gguf$/i.test(name);
}

function parseNpm(text: string): ModelSpec {
  const groups = npmPattern.exec(text.slice("npm:".length))?.groups;
  const { name = "", version = "" } = groups ?? {};
  if (groups !== undefined && versionPattern.test(version)) return { kind: "npm", name, version };
  const message = `${text} is not a package. Write npm:package@version with an exact version, such as npm:some-model@1.0.0.`;
  throw new EngineError("invalid_request", message);
}

function looksLikePath(text: string): boolean {
  return isGgufName(text) || /^(?:[./~\\]|[A-Za-z]:[\\/])/.test(text) || /[\\/]/.test(text);
}

function unreadable(text: string): EngineError {
  const message =
    text === ""
      ? "The model's name is empty."
      : `A model's name has at most ${specLengthMax} characters and no zero byte.`;
  return new EngineError("invalid_request", message);
}
