// llama-server as upstream's tests start it: turns its flags into those of `ingle serve`. INGLE_TEST_MODELS has the files of the
// models that the tests name, as JSON. A flag or a model that Ingle does not have ends the process with a sentence.
// No TypeScript project contains this file, so this line tells the linter that it runs in Node.
/// <reference types="node" />
import { existsSync, mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";

/** Flags with the same value under the same or another name. */
const renamed = {
  "--api-key": "--api-key",
  "--batch-size": "--batch-size",
  "--cache-ram": "--cache-ram",
  "--chat-template": "--chat-template",
  "--chat-template-file": "--chat-template-file",
  "--cors-origins": "--allow-origin",
  "--host": "--host",
  "--model-draft": "--draft-model",
  "--n-predict": "--predict",
  "--port": "--port",
  "--reasoning": "--reasoning",
  "--seed": "--seed",
  "--slot-save-path": "--slot-save-path",
  "--spec-draft-n-max": "--draft-tokens",
  "--temp": "--temp",
  "--threads": "--threads",
  "--ubatch-size": "--ubatch-size",
  "-fa": "--flash-attn",
};
/** Whole flags, with or without a value. */
const replaced = {
  "--context-shift": ["--context-overflow", "shift"],
  "--no-ui": ["--no-ui"],
  "-ctk f16": ["--kv-bits-k", "16"],
  "-ctk q8_0": ["--kv-bits-k", "8"],
  "-ctk q4_0": ["--kv-bits-k", "4"],
  "-ctv f16": ["--kv-bits-v", "16"],
  "-ctv q8_0": ["--kv-bits-v", "8"],
  "-ctv q4_0": ["--kv-bits-v", "4"],
};
/** What Ingle always does, decides by itself or has no need of; a test that depends on it fails by what it checks. */
const without = new Set([
  "--cont-batching",
  "--embedding",
  "--jinja",
  "--metrics",
  "--no-cache-idle-slots",
  "--no-jinja",
  "--no-slots",
  "--offline",
  "--reranking",
  "--slots",
  "--swa-full",
  "--verbose",
]);
const withoutValue = new Set(["--pooling", "--reasoning-format", "--spec-draft-n-min"]);
const ownValue = new Set([
  "--alias",
  "--ctx-size",
  "--hf-file",
  "--hf-repo",
  "--lora",
  "--model",
  "--parallel",
]);

const args = process.argv.slice(2);
const serve = [];
const own = new Map();
while (args.length > 0) {
  const flag = args.shift();
  const value = args[0];
  const withValue = `${flag} ${value}`;
  if (flag in renamed) serve.push(renamed[flag], args.shift());
  else if (flag in replaced) serve.push(...replaced[flag]);
  else if (withValue in replaced) serve.push(...replaced[`${flag} ${args.shift()}`]);
  else if (ownValue.has(flag)) own.set(flag, args.shift());
  else if (flag === "--kv-unified" || flag === "--no-mmproj") own.set(flag, "");
  else if (withoutValue.has(flag)) args.shift();
  else if (!without.has(flag)) fail(`Flag without a counterpart: ${flag}`);
}

/** The flags of the model, whose file has the name that is to be its id, and of its context. */
function modelFlags() {
  const name = [own.get("--hf-repo"), own.get("--hf-file")].filter((part) => part !== undefined).join("/");
  const known = JSON.parse(process.env["INGLE_TEST_MODELS"] ?? "{}")[name];
  const { model, mmproj, context } = own.has("--model") ? { model: own.get("--model") } : (known ?? {});
  if (model === undefined || !existsSync(model)) fail(`Model that is not on this machine: ${name}`);
  return [
    "--model",
    named(model, own.get("--alias")),
    ...(mmproj === undefined || own.has("--no-mmproj") ? [] : ["--mmproj", mmproj]),
    ...(own.has("--ctx-size") ? ["--ctx", String(contextLength(context))] : []),
  ];
}

/** Upstream divides its context among the slots, unless they share their cells, and takes at most what the model was trained for. */
function contextLength(trained = Infinity) {
  const slots = own.has("--kv-unified") ? 1 : Number(own.get("--parallel") ?? 1);
  return Math.min(Math.floor(Number(own.get("--ctx-size")) / slots), trained);
}

function named(model, alias) {
  if (alias === undefined) return model;
  const link = path.join(mkdtempSync(path.join(tmpdir(), "alias-")), `${alias}.gguf`);
  symlinkSync(model, link);
  return link;
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(3);
}

serve.push(...modelFlags());
if (own.has("--parallel")) serve.push("--parallel", own.get("--parallel"));
if (own.has("--lora")) serve.push("--lora-modules", `lora=${own.get("--lora")}`);
const always = ["--llama-server-api", "--variant", "developer", "--insecure-short-key"];
process.argv = [process.argv[0], "ingle", "serve", ...always, ...serve];
const { start } = await import("@ingle/server/bin/start.js");
await start("ingle");
