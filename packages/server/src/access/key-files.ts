// The files of --api-key-file and --admin-key-file: one key a line. Used by serve.ts.
import { readFile, stat } from "node:fs/promises";
import { apiKeysMax, digestOfKey, whyNotTaken } from "../api-key.ts";
import { ConfigError } from "../config.ts";

/** Rights that let somebody else than the owner read a file: a member of its group, and everybody. */
const readable = { byGroup: 0o040, byAll: 0o004 };

export interface KeyFile {
  digests: string[];
  /** What is wrong with the file and no reason not to use it, as a sentence. */
  warning: string | undefined;
}

/** Empty lines and those that begin with `#` are no keys. Throws ConfigError, which never holds a part of a key. */
export async function readKeyFile(
  setting: string,
  file: string,
  { allowsShort }: { allowsShort: boolean },
): Promise<KeyFile> {
  const { text, isOpen } = await contentOf(setting, file);
  const digests: string[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const key = line.trim();
    if (key === "" || key.startsWith("#")) continue;
    const why = whyNotTaken(key, { allowsShort });
    if (why !== undefined)
      throw new ConfigError(setting, `${setting}: the key in line ${index + 1} of ${file} ${why}.`);
    digests.push(digestOfKey(key));
  }
  if (digests.length > apiKeysMax)
    throw new ConfigError(setting, `${setting}: ${file} must hold at most ${apiKeysMax} keys.`);
  if (digests.length === 0) throw new ConfigError(setting, `${setting}: ${file} holds no key.`);
  return {
    digests,
    warning: isOpen
      ? `Other users of this machine can read the keys in ${file}; chmod 600 keeps them out.`
      : undefined,
  };
}

/**
 * Whether others than this user can read a file. One that belongs to somebody else is read through its group, as the Secrets of
 * Kubernetes are, so that its group's right is no news. Windows has no such rights and no `user`.
 */
export function isOpenToOthers(
  { mode, uid }: { mode: number; uid: number },
  user: number | undefined,
): boolean {
  if (user === undefined) return false;
  const rights = uid === user ? readable.byGroup | readable.byAll : readable.byAll;
  return (mode & rights) !== 0;
}

async function contentOf(setting: string, file: string): Promise<{ text: string; isOpen: boolean }> {
  try {
    const [text, found] = await Promise.all([readFile(file, "utf8"), stat(file)]);
    return { text, isOpen: isOpenToOthers(found, process.getuid?.()) };
  } catch (cause) {
    throw new ConfigError(setting, `${setting}: the file ${file} cannot be read.`, { cause });
  }
}
