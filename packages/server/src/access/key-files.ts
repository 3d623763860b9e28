// The files of --api-key-file and --admin-key-file: one key a line.
import { readFile, stat } from "node:fs/promises";
import { isReadableByOthers } from "@ingle/engine";
import { apiKeysMax, digestOfKey, whyNotTaken } from "../api-key.ts";
import { ConfigError } from "../config.ts";

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

async function contentOf(setting: string, file: string): Promise<{ text: string; isOpen: boolean }> {
  try {
    const [text, found] = await Promise.all([readFile(file, "utf8"), stat(file)]);
    return { text, isOpen: isReadableByOthers(found, process.getuid?.()) };
  } catch (cause) {
    throw new ConfigError(setting, `${setting}: the file ${file} cannot be read.`, { cause });
  }
}
