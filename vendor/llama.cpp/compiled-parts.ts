// What other people's code is compiled into the native engine, with its licenses: llama.cpp itself, and what it contains. Made from the
// prepared sources, for the license file of the engine's packages and for the list of a release's parts.
import { readFileSync } from "node:fs";
import path from "node:path";

const here = import.meta.dirname;
const source = path.join(here, "source");

export interface CompiledPart {
  readonly name: string;
  /** Undefined where the source names none. */
  readonly version: string | undefined;
  /** SPDX's name of the one that is chosen, where there is a choice; undefined for what is in the public domain without a license. */
  readonly license: string | undefined;
  /** Terms and copyright notices. */
  readonly text: string;
  /** The file or folder in llama.cpp's sources. */
  readonly place: string;
}

/** A license that stands in a comment: from the line with the first text to the line with the last. */
interface InComment {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

interface Entry {
  readonly name: string;
  readonly license: string | undefined;
  readonly place: string;
  /** A file of its own, or a part of a source file. */
  readonly terms: string | InComment;
  /** The file whose definitions (`_MAJOR`, …) are the version. */
  readonly version?: { readonly file: string; readonly names: readonly string[] };
}

const entries: readonly Entry[] = [
  {
    name: "nlohmann/json",
    license: "MIT",
    place: "vendor/nlohmann",
    terms: "licenses/LICENSE-jsonhpp",
    version: {
      file: "vendor/nlohmann/json.hpp",
      names: ["NLOHMANN_JSON_VERSION_MAJOR", "NLOHMANN_JSON_VERSION_MINOR", "NLOHMANN_JSON_VERSION_PATCH"],
    },
  },
  {
    name: "xxHash",
    license: "BSD-2-Clause",
    place: "vendor/hash/xxhash",
    terms: "vendor/hash/xxhash/LICENSE",
    version: {
      file: "vendor/hash/xxhash/xxhash.h",
      names: ["XXH_VERSION_MAJOR", "XXH_VERSION_MINOR", "XXH_VERSION_RELEASE"],
    },
  },
  {
    name: "rotate-bits",
    license: "MIT",
    place: "vendor/hash/rotate-bits",
    terms: "vendor/hash/rotate-bits/LICENSE.md",
  },
  {
    name: "sha256 by Igor Pavlov",
    license: undefined,
    place: "vendor/hash/sha256",
    terms: "vendor/hash/sha256/LICENSE",
  },
  {
    name: "SHA-1 by Steve Reid",
    license: undefined,
    place: "vendor/hash/sha1",
    terms: { file: "vendor/hash/sha1/sha1.c", from: "SHA-1 in C", to: "100% Public Domain" },
  },
  {
    name: "miniaudio",
    license: "Unlicense",
    place: "vendor/miniaudio",
    terms: {
      file: "vendor/miniaudio/miniaudio.h",
      from: "This software is available as a choice of the following licenses.",
      to: "SOFTWARE.",
    },
    version: {
      file: "vendor/miniaudio/miniaudio.h",
      names: ["MA_VERSION_MAJOR", "MA_VERSION_MINOR", "MA_VERSION_REVISION"],
    },
  },
  {
    name: "stb_image",
    license: "MIT",
    place: "vendor/stb",
    terms: { file: "vendor/stb/stb_image.h", from: "ALTERNATIVE A - MIT License", to: "SOFTWARE." },
  },
  {
    name: "subprocess.h",
    license: "Unlicense",
    place: "vendor/sheredom",
    terms: {
      file: "vendor/sheredom/subprocess.h",
      from: "This is free and unencumbered software",
      to: "For more information, please refer to",
    },
  },
  {
    name: "llamafile's matrix products",
    license: "MIT",
    place: "ggml/src/ggml-cpu/llamafile",
    terms: {
      file: "ggml/src/ggml-cpu/llamafile/sgemm.cpp",
      from: "Copyright 2024 Mozilla Foundation",
      to: "SOFTWARE.",
    },
  },
  {
    name: "YaRN",
    license: "MIT",
    place: "ggml/src/ggml-cpu/ops.cpp",
    terms: { file: "ggml/src/ggml-cpu/ops.cpp", from: "YaRN algorithm based on", to: "Copyright (c)" },
  },
];

/** Throws if the sources are not prepared, or no longer have a license where it is expected. */
export function compiledParts(): CompiledPart[] {
  const { "llama.cpp": pin }: { "llama.cpp": { release: string; commit: string } } = JSON.parse(
    readFileSync(path.join(here, "package.json"), "utf8"),
  );
  const whole = {
    name: "llama.cpp",
    version: `${pin.release} (${pin.commit})`,
    license: "MIT",
    text: read("LICENSE"),
    place: ".",
  };
  return [whole, ...entries.map(toPart)];
}

function toPart({ name, license, place, terms, version }: Entry): CompiledPart {
  return {
    name,
    license,
    place,
    text: typeof terms === "string" ? read(terms) : readComment(terms),
    version: version?.names.map((each) => definition(version.file, each)).join("."),
  };
}

function read(file: string): string {
  return readFileSync(path.join(source, file), "utf8").trim();
}

function readComment({ file, from, to }: InComment): string {
  const lines = read(file).split("\n");
  const first = lines.findIndex((line) => line.includes(from));
  const last = lines.findIndex((line, index) => index >= first && line.includes(to));
  if (first < 0 || last < 0) throw new Error(`${file} has no license between "${from}" and "${to}".`);
  return lines
    .slice(first, last + 1)
    .map((line) => line.replace(/^ *\/\/ ?/, "").replace(/^ {3}/, ""))
    .join("\n");
}

function definition(file: string, name: string): string {
  const found = new RegExp(String.raw`^\s*#define\s+${name}\s+(\d+)`, "m").exec(read(file))?.[1];
  if (found === undefined) throw new Error(`${file} does not define ${name}.`);
  return found;
}
