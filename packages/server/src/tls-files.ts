// The files of --tls-cert and --tls-key, checked before anything listens and again when they change. Used by serve.ts.
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { ConfigError } from "./config.ts";
import type { TlsMaterial } from "./http-server.ts";
import { watchFiles, type WatchedFiles } from "./watched-files.ts";

interface TlsFiles {
  certFile: string;
  keyFile: string;
}

/**
 * What the files hold now; undefined where there are none. Throws ConfigError for a file that cannot be read, is no PEM,
 * or does not fit the other one.
 */
export async function watchTls(
  files: TlsFiles | undefined,
  news: Omit<WatchedFiles<TlsMaterial>, "files" | "read">,
): Promise<TlsMaterial | undefined> {
  if (files === undefined) return undefined;
  const paths = [files.certFile, files.keyFile];
  return await watchFiles({ ...news, files: paths, read: async () => await readTls(files) });
}

async function readTls(files: TlsFiles): Promise<TlsMaterial> {
  const [cert, key] = await Promise.all([
    read("--tls-cert", files.certFile),
    read("--tls-key", files.keyFile),
  ]);
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError(
      "--tls-cert",
      `${files.certFile} and ${files.keyFile} are no certificate with its key in PEM: ${why}.`,
      { cause },
    );
  }
  return { cert, key };
}

async function read(setting: string, file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    throw new ConfigError(setting, `${setting}: the file ${file} cannot be read.`, { cause });
  }
}
