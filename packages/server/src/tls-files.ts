// The files of --tls-cert and --tls-key, checked before the server listens and again when they change.
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
 * The certificate and key; undefined without files. Throws ConfigError for a file that cannot be read or is not PEM, and for a key
 * that does not belong to the certificate.
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
      `${files.certFile} and ${files.keyFile} are not a certificate and its key in PEM: ${why}.`,
      { cause },
    );
  }
  return { cert, key };
}

async function read(setting: string, file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    throw new ConfigError(setting, `${setting}: cannot read the file ${file}.`, { cause });
  }
}
