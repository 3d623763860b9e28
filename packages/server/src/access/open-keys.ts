// All keys of a server that runs: those of its config, those of its key files as they are now, and a token of its own.
// Used by serve.ts.
import { randomBytes } from "node:crypto";
import type { ServerConfig } from "../config.ts";
import { watchFiles, type FileNews } from "../watched-files.ts";
import { readKeyFile, type KeyFile } from "./key-files.ts";
import { KeyRing } from "./key-ring.ts";

/** Bytes of the token: nobody guesses it, and it is gone when the server ends. */
const tokenBytes = 32;

export interface OpenKeys {
  readonly ring: KeyRing;
  /** As good as a management key, for programs of the user who has started the server. */
  readonly token: string;
}

export interface KeyNews extends FileNews {
  /** Something is wrong with a key file, and it is used all the same. */
  onWarning: (sentence: string) => void;
}

/** Throws ConfigError for a key file that cannot be used. */
export async function openKeys(config: ServerConfig, { onWarning, ...news }: KeyNews): Promise<OpenKeys> {
  const ring = new KeyRing(config);
  const token = randomBytes(tokenBytes).toString("base64url");
  ring.addToken(token);
  const files = [
    ["--api-key-file", "inference", config.keyFile],
    ["--admin-key-file", "management", config.adminKeyFile],
  ] as const;
  for (const [setting, scope, file] of files) {
    if (file === undefined) continue;
    const use = ({ digests, warning }: KeyFile): void => {
      ring.replace(setting, scope, digests);
      if (warning !== undefined) onWarning(warning);
    };
    const read = async () => await readKeyFile(setting, file, { allowsShort: config.insecureShortKey });
    use(await watchFiles({ ...news, files: [file], read, onChange: use }));
  }
  return { ring, token };
}
