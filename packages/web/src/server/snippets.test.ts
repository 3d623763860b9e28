import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { snippets, type SnippetTarget } from "./snippets.ts";

/** What docs/clients.md writes about. */
const documented: SnippetTarget = {
  url: "http://127.0.0.1:1337",
  model: "tinyllama-1.1b-chat",
  needsKey: false,
};

function codeOf(id: string, target: SnippetTarget): string {
  return snippets(target).find((snippet) => snippet.id === id)?.code ?? "";
}

describe("snippets", () => {
  it.each(snippets(documented).map((snippet) => [snippet.title, snippet] as const))(
    "the page on clients has the one of %s, word by word",
    async (_title, { language, code }) => {
      const page = await readFile(path.join(import.meta.dirname, "../../../../docs/clients.md"), "utf8");
      expect(page).toContain(`\`\`\`${language}\n${code}\n\`\`\``);
    },
  );

  it("all name the address and the model that are really used", () => {
    const target = { url: "http://192.168.0.7:4321", model: "org/repo:Q8_0", needsKey: false };
    for (const { id, code } of snippets(target)) {
      expect(code, id).toContain("http://192.168.0.7:4321");
      // Open WebUI asks the server for its models.
      if (id !== "open-webui") expect(code, id).toContain("org/repo:Q8_0");
      expect(code, id).not.toContain("YOUR_KEY");
    }
  });

  it("all say where the key belongs when the server wants one", () => {
    for (const { id, code } of snippets({ ...documented, needsKey: true })) {
      expect(code, id).toContain("YOUR_KEY");
      expect(code, id).not.toContain("any text");
    }
  });

  it("a model's name is data in every language", () => {
    const model = `it's "$(touch /tmp/x)" \\ here`;
    const target = { ...documented, model };
    expect(codeOf("openai-js", target)).toContain(JSON.stringify(model));
    expect(codeOf("curl", target)).toContain(`'\\''`);
  });

  it.skipIf(process.platform === "win32")("sh reads a strange name as that name", () => {
    const model = `it's "$(echo no)" \\ here`;
    const lines = codeOf("claude-code", { ...documented, model }).split("\n");
    const script = [...lines.slice(0, -1), 'printf %s "$ANTHROPIC_MODEL"'].join("\n");
    expect(spawnSync("sh", ["-c", script], { encoding: "utf8" }).stdout).toBe(model);
  });
});
