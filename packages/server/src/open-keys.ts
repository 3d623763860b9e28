// All keys of a running server: those of its config, those of its key files, which are watched, and its own token.
import { randomBytes } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { isReadableByOthers } from "@ingle/engine";
import { parseJson } from "@ingle/protocol/json-shape";
import { apiKeysMax, hashKey, whyNotTaken } from "./api-key.ts";
import { ConfigError, type ServerConfig } from "./config.ts";
import { watchFiles, type FileNews } from "./watched-files.ts";
import { KeyFile, type KeyEntry } from "./access/key-file.ts";
import { KeyRing } from "./access/keys.ts";

/** Bytes of the token: too many to guess. The token is valid until the server ends. */
const tokenBytes = 32;

interface OpenKeys {
  readonly ring: KeyRing;
  /** Has the rights of a management key, for programs of the user who started the server. */
  readonly token: string;
}

interface KeyNews extends FileNews {
  /** Called with what is wrong with a key file that is used nevertheless. */
  onWarning: (sentence: string) => void;
}

/** Throws ConfigError for a key file that cannot be used. */
export async function openKeys(config: ServerConfig, { onWarning, ...news }: KeyNews): Promise<OpenKeys> {
  const ring = new KeyRing(config);
  const token = randomBytes(tokenBytes).toString("base64url");
  ring.addToken(token);
  const follow = async <T extends Warned>(
    file: string,
    read: () => Promise<T>,
    take: (found: T) => void,
  ): Promise<void> => {
    const use = (found: T): void => {
      take(found);
      if (found.warning !== undefined) onWarning(found.warning);
    };
    use(await watchFiles({ ...news, files: [file], read, onChange: use }));
  };
  const files = [
    ["--api-key-file", "inference", config.keyFile],
    ["--admin-key-file", "management", config.adminKeyFile],
  ] as const;
  for (const [setting, scope, file] of files) {
    if (file === undefined) continue;
    const read = async () => await readKeyFile(setting, file, { allowsShort: config.insecureShortKey });
    await follow(file, read, ({ digests }) => ring.replace(setting, scope, digests));
  }
  const { keys: file } = config;
  if (file !== undefined) {
    const read = async () => await readNamedKeys(file);
    await follow(file, read, ({ keys }) => ring.replaceEntries("--keys", keys));
  }
  return { ring, token };
}

interface Warned {
  /** What is wrong with a file, as a sentence; the file is used nevertheless. */
  warning: string | undefined;
}

interface NamedKeys extends Warned {
  keys: readonly KeyEntry[];
}

/** Throws ConfigError, which says where the file is not as it should be. A file without keys is right: the server refuses every request. */
async function readNamedKeys(file: string): Promise<NamedKeys> {
  const { text, isOpen } = await readSettingFile("--keys", file);
  const checked = KeyFile.safeParse(parseJson(text));
  if (checked.success) return { keys: checked.data.keys, warning: openFileWarning(file, isOpen) };
  const [issue] = checked.error.issues;
  const place = issue === undefined || issue.path.length === 0 ? "" : `, at ${issue.path.join(".")}`;
  throw new ConfigError("--keys", `--keys: ${file} cannot be used${place}: ${issue?.message}.`);
}

interface ListedKeys extends Warned {
  digests: string[];
}

/** Reads one key per line; skips empty lines and comments that begin with `#`. Throws ConfigError, which never quotes a key. */
async function readKeyFile(
  setting: string,
  file: string,
  { allowsShort }: { allowsShort: boolean },
): Promise<ListedKeys> {
  const { text, isOpen } = await readSettingFile(setting, file);
  const digests: string[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const key = line.trim();
    if (key === "" || key.startsWith("#")) continue;
    const why = whyNotTaken(key, { allowsShort });
    if (why !== undefined)
      throw new ConfigError(setting, `${setting}: the key in line ${index + 1} of ${file} ${why}.`);
    digests.push(hashKey(key));
  }
  if (digests.length > apiKeysMax)
    throw new ConfigError(setting, `${setting}: ${file} must hold at most ${apiKeysMax} keys.`);
  if (digests.length === 0) throw new ConfigError(setting, `${setting}: ${file} holds no key.`);
  return { digests, warning: openFileWarning(file, isOpen) };
}

function openFileWarning(file: string, isOpen: boolean): string | undefined {
  return isOpen
    ? `Other users of this machine can read the keys in ${file}; chmod 600 keeps them out.`
    : undefined;
}

async function readSettingFile(setting: string, file: string): Promise<{ text: string; isOpen: boolean }> {
  try {
    const [text, found] = await Promise.all([readFile(file, "utf8"), stat(file)]);
    return { text, isOpen: isReadableByOthers(found, process.getuid?.()) };
  } catch (cause) {
    throw new ConfigError(setting, `${setting}: the file ${file} cannot be read.`, { cause });
  }
}
