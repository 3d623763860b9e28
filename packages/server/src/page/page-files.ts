// The files of the built page (@ingle/web), as they are sent: listed once, each read when it is first asked for. Only listed
// files exist, so no request reaches another file of this machine.
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** How the bytes of an answer are packed. */
export type PageEncoding = "br" | "gzip" | "identity";

export interface PageBytes {
  encoding: PageEncoding;
  bytes: Buffer;
  /** With its quotes; another one for each encoding. */
  etag: string;
}

export interface PageFile {
  /** Such as `/assets/index-B2x.js`; the page itself is `/`. */
  path: string;
  /** Its media type. */
  type: string;
  /** Its name has a hash of what it holds: under this name it never changes. */
  isHashed: boolean;
  /** What is sent to a client that takes these encodings. */
  read(accepted: ReadonlySet<PageEncoding>): Promise<PageBytes>;
}

/** The files by their paths; without `files`, `problem` says in a sentence why there are none. */
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
/** Where the build has put a packed copy beside a file. */
const copies = { br: ".br", gzip: ".gz" } as const;
/** Smaller ones are sent as they are: packing saves less than a packet. */
const packedBytesMin = 1_024;
const pageFile = "index.html";
/** Folder of the files whose names have hashes. */
const hashedFolder = "assets/";
/** Files with other names are none of a page's. */
const plainName = /^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/;

/** The page that is installed beside this server. */
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
    "Ingle's page is not built, so there is nothing to see here; the API works all the same. " +
    "Run `npx --yes pnpm@12 build` in the checkout and start the server again.",
};

/** Never throws: a server without a page serves all the same. */
export async function pageIn(folder: string): Promise<Page> {
  const names = await namesIn(folder);
  if (!names.has(pageFile)) return notBuilt;
  const files = [...names].flatMap((name) => {
    const type = types[path.posix.extname(name)];
    return type === undefined || !plainName.test(name) ? [] : [toFile(folder, { name, names, type })];
  });
  return { files: new Map(files.map((file) => [file.path, file])) };
}

/** With slashes between folders, on every system. Links are none: they could lead out of the folder. */
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
