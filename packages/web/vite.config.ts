// Builds the page into dist/: hashed files under assets/, and beside each a .br and a .gz for the server to send.
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

import { defineConfig, type Plugin } from "vite";

import { mermaidUnderPolicy } from "./mermaid-under-policy.ts";

/** Below this, compression saves less than its header costs. */
const compressedBytesMin = 1024;

/** Where `pnpm dev` finds a server: `ingle serve --port 1400`. */
const developmentServer = "http://127.0.0.1:1400";

export default defineConfig({
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2023",
    // Fonts and images stay files: the page's policy allows no fonts from data URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The largest part is Mermaid's parser, which comes with the diagrams that need it.
    chunkSizeWarningLimit: 700,
    // What is built in keeps its licences.
    license: { fileName: "licenses.md" },
  },
  // Mermaid asks for another version of KaTeX, for the formulas in its labels.
  resolve: { dedupe: ["katex"] },
  plugins: [woff2Only(), mermaidUnderPolicy(), compressedSiblings()],
  server: {
    proxy: Object.fromEntries(
      ["/v1", "/api"].map((route) => [route, { target: developmentServer, changeOrigin: true }]),
    ),
  },
});

/** KaTeX names each font in three formats; every browser that runs this page reads the smallest. */
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
