// docs/clients.md tells which versions of other people's clients are tested: they are those that are installed.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";

const root = path.join(import.meta.dirname, "..");
const Manifest = z.object({ devDependencies: z.record(z.string(), z.string()) });
const Installed = z.object({ dependencies: z.record(z.string(), z.string()) });
const clients = [
  "openai",
  "@anthropic-ai/sdk",
  "@openai/agents",
  "ai",
  "@ai-sdk/openai-compatible",
  "@ai-sdk/openai",
  "@langchain/openai",
  "@langchain/langgraph",
  "cohere-ai",
  "@huggingface/inference",
  "ollama",
];

describe("docs/clients.md", () => {
  it.each(clients)("has the version of %s that the tests run", async (client) => {
    const manifest = Manifest.parse(JSON.parse(await readFile(path.join(root, "package.json"), "utf8")));
    const page = await readFile(path.join(root, "docs/clients.md"), "utf8");
    const version = manifest.devDependencies[client] ?? "not installed";
    const row = page.split("\n").find((line) => line.includes(`[${client}](`));
    expect(row).toContain(version);
  });

  it("has the versions of ai that our provider is tested with", async () => {
    const { devDependencies } = Manifest.parse(
      JSON.parse(await readFile(path.join(root, "package.json"), "utf8")),
    );
    const page = await readFile(path.join(root, "docs/clients.md"), "utf8");
    const row = page.split("\n").find((line) => line.startsWith("| `@ingle/ai-provider`"));
    expect(row).toContain(`with ai ${devDependencies["ai"]}:`);
    expect(row).toContain(`with ai ${devDependencies["ai-7"]?.replace("npm:ai@", "")}:`);
  });

  it("has the version of Mastra that its test installs", async () => {
    const folder = path.join(root, "packages/server/test/foreign/mastra");
    const { dependencies } = Installed.parse(
      JSON.parse(await readFile(path.join(folder, "package.json"), "utf8")),
    );
    const page = await readFile(path.join(root, "docs/clients.md"), "utf8");
    const row = page.split("\n").find((line) => line.includes("[@mastra/core]("));
    expect(row).toContain(`| ${dependencies["@mastra/core"]} |`);
  });
});
