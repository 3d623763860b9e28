// Builds the prebuilt package of a platform (platforms.js) into prebuilt/, ready for `npm pack`. The platform is this machine's;
// INGLE_GPU chooses a GPU package; `--cpu` names another processor, with a cross compiler (CMAKE_TOOLCHAIN_FILE).
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { compiledParts } from "@ingle/llama.cpp/compiled-parts";
import { hostPlatform, packageName, platformManifest, type Platform } from "./platforms.js";
import { engineSourcesId } from "./sources.ts";

const here = path.dirname(fileURLToPath(import.meta.url));
const llamaPackage = path.dirname(fileURLToPath(import.meta.resolve("@ingle/llama.cpp/package.json")));
const llamaSources = path.join(llamaPackage, "source");
/** The addon, and the libraries and processor code beside it. */
const isPackaged = /\.(node|so|dylib|dll)$/;
/** What `strip` drops of shared libraries. Windows keeps symbols in files of their own. */
const stripOptions: Partial<Record<string, string>> = { linux: "--strip-unneeded", darwin: "-x" };

/** The platform that is built for, with the GPU that was asked for. */
function chosenPlatform(cpu: string | undefined): Platform {
  const host = hostPlatform();
  const gpu = process.env["INGLE_GPU"] ?? "cpu";
  return {
    ...host,
    ...(cpu === undefined ? {} : { cpu }),
    ...(gpu === "cuda" || gpu === "vulkan" ? { gpu } : {}),
  };
}

function runTsx(file: string, args: readonly string[], env: Readonly<Record<string, string>>): void {
  execFileSync(process.execPath, ["--import", "tsx", file, ...args], {
    cwd: here,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
}

function describe(platform: Platform): string {
  const { os, cpu, libc, gpu } = platform;
  const system =
    { linux: libc === "musl" ? "Linux with musl" : "Linux", darwin: "macOS", win32: "Windows" }[os] ?? os;
  return `Ingle's native engine for ${system} on ${cpu}${gpu === undefined ? "" : `, with ${gpu}`}`;
}

function packageManifest(platform: Platform): object {
  const own: Record<string, unknown> = JSON.parse(readFileSync(path.join(here, "package.json"), "utf8"));
  return {
    ...platformManifest(platform, own),
    description: `${describe(platform)}.`,
    ingle: { sources: engineSourcesId(here, llamaSources) },
  };
}

function readme(platform: Platform): string {
  const name = packageName(platform);
  const asked =
    platform.gpu === undefined
      ? "It is installed with `@ingle/engine-native` on this platform; there is nothing to do."
      : `Install it beside \`@ingle/engine\` or \`ingle\` to use it: \`npm install ${name}\`. It replaces the CPU-only package.`;
  return `# ${name}\n\n${describe(platform)}, built from llama.cpp and Ingle's own code.\n\n${asked}\n`;
}

/** Our license, and those of the code that is compiled in. */
function licenses(): string {
  const own = readFileSync(path.join(here, "..", "..", "LICENSE"), "utf8");
  const texts = compiledParts().map(
    ({ name, version, license, text }) =>
      `${name}${version === undefined ? "" : ` ${version}`}, ${license ?? "public domain"}\n\n${text}\n`,
  );
  return [own, ...texts].join(`\n${"-".repeat(80)}\n\n`);
}

function main(): void {
  const { values } = parseArgs({ options: { cpu: { type: "string" } } });
  const platform = chosenPlatform(values.cpu);
  const short = path.basename(packageName(platform));
  const buildDir = path.join(here, `build-${short}`);
  const gpu = platform.os === "darwin" ? "metal" : (platform.gpu ?? "cpu");
  const env = { INGLE_CPU: "all", INGLE_GPU: gpu };
  runTsx(path.join(llamaPackage, "prepare.ts"), [], env);
  runTsx(path.join(here, "build.ts"), [buildDir], env);

  const target = path.join(here, "prebuilt", short);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const release = path.join(buildDir, "Release");
  for (const name of readdirSync(release).filter((each) => isPackaged.test(each))) {
    const file = path.join(target, name);
    copyFileSync(path.join(release, name), file);
    const option = stripOptions[platform.os];
    if (option !== undefined) execFileSync(process.env["STRIP"] ?? "strip", [option, file]);
  }
  writeFileSync(
    path.join(target, "package.json"),
    `${JSON.stringify(packageManifest(platform), undefined, 2)}\n`,
  );
  writeFileSync(path.join(target, "README.md"), readme(platform));
  writeFileSync(path.join(target, "LICENSE"), licenses());
  console.log(`\n${packageName(platform)} is in ${target}\n`);
}

main();
