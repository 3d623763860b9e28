// What a person may write for a model, read into one of four kinds. Pure: whether it exists is for locate.ts to say.
//
//   ./model.gguf  /models/some-folder  C:\models\x.gguf    a file or folder of this machine
//   org/repo  org/repo:Q4_K_M  org/repo:file-name          a repository on the hub, and which of its models
//   npm:package@1.0.0                                      a package of the npm registry
//   anything else                                          an alias, or the id of a model that is there
import os from "node:os";
import path from "node:path";
import { EngineError } from "../errors.ts";

export type ModelSpec =
  /** `path` is absolute. */
  | { kind: "file"; path: string }
  /** `choice` is a quantization or a file's name without its ending; undefined leaves the choice to us. */
  | { kind: "hub"; repo: string; choice: string | undefined }
  | { kind: "npm"; name: string; version: string }
  | { kind: "name"; name: string };

/** Ids of the hub are at most 96 characters a part; paths of the systems end earlier than this. */
const specLengthMax = 4096;

/** Parts of an id as the hub allows them: no part begins with a dot, so none is `..`. */
const hubPattern =
  /^(?<repo>[A-Za-z0-9_][\w.-]{0,95}\/[A-Za-z0-9_][\w.-]{0,95})(?::(?<choice>[\w.-]{1,200}))?$/;
const npmPattern = /^(?<name>(?:@[a-z0-9-~][a-z0-9-._~]*\/)?[a-z0-9-~][a-z0-9-._~]*)@(?<version>[^@]+)$/;
/** An exact version. A range would mean other bytes tomorrow. */
const versionPattern = /^\d+\.\d+\.\d+(?:-[\w.-]+)?(?:\+[\w.-]+)?$/;
/** Names of one's own: what a shell, a URL and a file name all take as it is. */
const aliasPattern = /^[A-Za-z0-9][\w.-]{0,99}$/;

/** Throws `invalid_request` for what can be none of the four. Relative paths are taken from `cwd`. */
export function parseModelSpec(text: string, cwd: string = process.cwd()): ModelSpec {
  if (text === "" || text.length > specLengthMax || text.includes("\0")) throw unreadable(text);
  if (text.startsWith("npm:")) return parseNpm(text);
  const hub = hubPattern.exec(text)?.groups;
  // A name that ends so is meant as a path even where it looks like org/repo; behind a colon it is a file of a repository.
  if (hub !== undefined && (hub["choice"] !== undefined || !isGgufName(text))) {
    const choice = hub["choice"]?.replace(/\.gguf$/i, "");
    return { kind: "hub", repo: hub["repo"] ?? "", choice };
  }
  if (looksLikePath(text)) return { kind: "file", path: path.resolve(cwd, withoutTilde(text)) };
  return { kind: "name", name: text };
}

/** Throws `invalid_request` for a name that could be taken for something else than an alias, or is one of these ids. */
export function checkAlias(alias: string, ids: readonly string[]): void {
  if (ids.includes(alias)) {
    const message = `There is a model whose id is "${alias}", so this cannot be the name of another one.`;
    throw new EngineError("invalid_request", message, { details: { alias, param: "alias" } });
  }
  if (aliasPattern.test(alias) && !isGgufName(alias)) return;
  const message = `"${alias}" cannot be an alias. It may have letters, digits, ".", "_" and "-", and must not end in ".gguf".`;
  throw new EngineError("invalid_request", message, { details: { alias, param: "alias" } });
}

export function isGgufName(name: string): boolean {
  return /[^/\\]\.gguf$/i.test(name);
}

function parseNpm(text: string): ModelSpec {
  const groups = npmPattern.exec(text.slice("npm:".length))?.groups;
  const { name = "", version = "" } = groups ?? {};
  if (groups !== undefined && versionPattern.test(version)) return { kind: "npm", name, version };
  const message = `${text} names no package. Write npm:package@version with an exact version, such as npm:some-model@1.0.0.`;
  throw new EngineError("invalid_request", message);
}

function looksLikePath(text: string): boolean {
  return isGgufName(text) || /^(?:[./~\\]|[A-Za-z]:[\\/])/.test(text) || /[\\/]/.test(text);
}

/** Shells put the home folder in; variables and configuration files come without that. */
function withoutTilde(text: string): string {
  return /^~[\\/]/.test(text) ? path.join(os.homedir(), text.slice(2)) : text;
}

function unreadable(text: string): EngineError {
  const message =
    text === ""
      ? "The model's name is empty."
      : `A model's name has at most ${specLengthMax} characters and no zero byte.`;
  return new EngineError("invalid_request", message);
}
