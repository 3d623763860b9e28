// The files of the built page (@ingle/web). They are listed once and read on first use. Only listed files can be requested, so no
// request reaches another file of this machine.
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** Content encoding of a response. */
export type PageEncoding = "br" | "gzip" | "identity";

interface PageBytes {
  encoding: PageEncoding;
  bytes: Buffer;
  /** With its quotes; each encoding has its own. */
  etag: string;
}

export interface PageFile {
  /** Such as `/assets/index-B2x.js`; the page itself is `/`. */
  path: string;
  /** Its media type. */
  type: string;
  /** Whether its name contains a hash of its content: such a file never changes. */
  isHashed: boolean;
  /** Returns the best accepted encoding of the file. */
  read(accepted: ReadonlySet<PageEncoding>): Promise<PageBytes>;
}

/** The files by path. Without `files`, `problem` is a sentence that says why there are none. */
export type Page = { files: ReadonlyMap<string, PageFile> } | { problem: string };

const types: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json; charset=utf-8",
  ".woff2": "font/woff2",
};
/** Suffixes of the compressed copies that the build puts beside a file. */
const copies = { br: ".br", gzip: ".gz" } as const;
/** Smaller files are sent uncompressed: compressing would save less than a packet. */
const packedBytesMin = 1_024;
const pageFile = "index.html";
/** The folder of files whose names contain hashes. */
const hashedFolder = "assets/";
/** Files with other names do not belong to the page. */
const plainName = /^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/;

/** The page that is installed with this server. */
export async function installedPage(): Promise<Page> {
  try {
    const manifest = createRequire(import.meta.url).resolve("@ingle/web/package.json");
    return await pageIn(path.join(path.dirname(manifest), "dist"));
  } catch {
    return notBuilt;
  }
}

const notBuilt: Page = {
  problem:
    "Ingle's page is not built, so there is nothing to show here. The API works without it. " +
    "Run `npx --yes pnpm@12 build` in the checkout and start the server again.",
};

/** Never throws: a server also works without a page. */
export async function pageIn(folder: string): Promise<Page> {
  const names = await namesIn(folder);
  if (!names.has(pageFile)) return notBuilt;
  const files = [...names].flatMap((name) => {
    const type = types[path.posix.extname(name)];
    return type === undefined || !plainName.test(name) ? [] : [toFile(folder, { name, names, type })];
  });
  return { files: new Map(files.map((file) => [file.path, file])) };
}

/** Paths use slashes on every system. Symbolic links are skipped, because they could lead out of the folder. */
async function namesIn(folder: string): Promise<Set<string>> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    const names = files.map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
    return new Set(names.map((name) => name.split(path.sep).join("/")));
  } catch {
    return new Set();
  }
}

function toFile(
  folder: string,
  { name, names, type }: { name: string; names: ReadonlySet<string>; type: string },
): PageFile {
  const kept = new Map<PageEncoding, Promise<PageBytes>>();
  const whole = path.join(folder, name);
  const isText = /^(text|image\/svg)|json/.test(type);
  const make = async (encoding: PageEncoding): Promise<PageBytes> => {
    if (encoding !== "identity" && names.has(name + copies[encoding]))
      return toBytes(encoding, await readFile(whole + copies[encoding]));
    const bytes = await readFile(whole);
    const isPacked = encoding === "gzip" && isText && bytes.length >= packedBytesMin;
    return isPacked ? toBytes("gzip", await promisify(gzip)(bytes)) : toBytes("identity", bytes);
  };
  return {
    path: name === pageFile ? "/" : `/${name}`,
    type,
    isHashed: name.startsWith(hashedFolder),
    read: async (accepted) => {
      const packed = (["br", "gzip"] as const).find(
        (each) => accepted.has(each) && (each === "gzip" || names.has(name + copies[each])),
      );
      const encoding = packed ?? "identity";
      const made = kept.get(encoding) ?? make(encoding);
      kept.set(encoding, made);
      return await made;
    },
  };
}

function toBytes(encoding: PageEncoding, bytes: Buffer): PageBytes {
  const etag = `"${createHash("sha256").update(bytes).digest("base64url")}"`;
  return { encoding, bytes, etag };
}
