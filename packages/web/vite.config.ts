// Builds the page into dist/, with hashed files in assets/, and a .br and a .gz of each text file for the server to send.
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

import { defineConfig, type Plugin } from "vite";

import { mermaidUnderPolicy } from "./mermaid-under-policy.ts";

/** Smaller files are not worth compressing. */
const compressedBytesMin = 1024;

/** Where `pnpm dev` finds a server: `ingle serve --port 1400`. */
const developmentServer = "http://127.0.0.1:1400";

export default defineConfig({
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2023",
    // Inlines no fonts and images: the page's policy allows no fonts from data URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The largest chunk is Mermaid's parser, which is loaded on demand.
    chunkSizeWarningLimit: 700,
    // The licences of bundled packages.
    license: { fileName: "licenses.md" },
  },
  // Mermaid depends on another version of KaTeX, for formulas in labels.
  resolve: { dedupe: ["katex"] },
  plugins: [woff2Only(), mermaidUnderPolicy(), compressedSiblings()],
  server: {
    proxy: Object.fromEntries(
      ["/v1", "/api"].map((route) => [route, { target: developmentServer, changeOrigin: true }]),
    ),
  },
});

/** KaTeX lists each font in three formats; every supported browser reads WOFF2. */
function woff2Only(): Plugin {
  return {
    name: "woff2-only",
    enforce: "pre",
    transform: (code, id) =>
      /katex[^/]*\.css$/.test(id)
        ? code.replaceAll(/,\s*url\([^)]*\.(?:woff|ttf)\)\s*format\("(?:woff|truetype)"\)/g, "")
        : undefined,
  };
}

function compressedSiblings(): Plugin {
  let folder = "";
  return {
    name: "compressed-siblings",
    apply: "build",
    configResolved: ({ root, build }) => {
      folder = path.resolve(root, build.outDir);
    },
    closeBundle: async () => {
      const names = await readdir(folder, { recursive: true });
      const texts = names.filter((name) => /\.(html|js|css|svg|webmanifest)$/.test(name));
      await Promise.all(texts.map((name) => compress(path.join(folder, name))));
    },
  };
}

async function compress(file: string): Promise<void> {
  const bytes = await readFile(file);
  if (bytes.length < compressedBytesMin) return;
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
  await Promise.all([
    writeFile(`${file}.br`, await promisify(brotliCompress)(bytes, quality)),
    writeFile(`${file}.gz`, await promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION })),
  ]);
}
