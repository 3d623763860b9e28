import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { snippets, type SnippetTarget } from "./snippets.ts";

/** The example in docs/clients.md. */
const documented: SnippetTarget = {
  url: "http://127.0.0.1:1337",
  model: "tinyllama-1.1b-chat",
  needsKey: false,
  contextLength: 32_768,
};

function snippetCode(id: string, target: SnippetTarget): string {
  return snippets(target).find((snippet) => snippet.id === id)?.code ?? "";
}

describe("snippets", () => {
  it.each(snippets(documented).map((snippet) => [snippet.title, snippet] as const))(
    "docs/clients.md shows the one for %s verbatim",
    async (_title, { language, code }) => {
      const page = await readFile(path.join(import.meta.dirname, "../../../../docs/clients.md"), "utf8");
      expect(page).toContain(`\`\`\`${language}\n${code}\n\`\`\``);
    },
  );

  it("contain the actual address and model", () => {
    const target = {
      url: "http://192.168.0.7:4321",
      model: "org/repo:Q8_0",
      needsKey: false,
      contextLength: null,
    };
    for (const { id, code } of snippets(target)) {
      expect(code, id).toContain("http://192.168.0.7:4321");
      // Open WebUI asks the server for its models.
      if (id !== "open-webui") expect(code, id).toContain("org/repo:Q8_0");
      expect(code, id).not.toContain("YOUR_KEY");
    }
  });

  it("tell Claude Code the model's context, if it is known", () => {
    expect(snippetCode("claude-code", { ...documented, contextLength: 8_192 })).toContain(
      "CONTEXT_TOKENS=8192\n",
    );
    expect(snippetCode("claude-code", { ...documented, contextLength: null })).not.toContain("CONTEXT");
  });

  it("show where the key belongs if the server requires one", () => {
    for (const { id, code } of snippets({ ...documented, needsKey: true })) {
      expect(code, id).toContain("YOUR_KEY");
      expect(code, id).not.toContain("any text");
    }
  });

  it("quote the model's name in every language", () => {
    const model = `it's "$(touch /tmp/x)" \\ here`;
    const target = { ...documented, model };
    expect(snippetCode("openai-js", target)).toContain(JSON.stringify(model));
    expect(snippetCode("curl", target)).toContain(`'\\''`);
  });

  it.skipIf(process.platform === "win32")("quote a name with special characters for sh", () => {
    const model = `it's "$(echo no)" \\ here`;
    const lines = snippetCode("claude-code", { ...documented, model }).split("\n");
    const script = [...lines.slice(0, -1), 'printf %s "$ANTHROPIC_MODEL"'].join("\n");
    expect(spawnSync("sh", ["-c", script], { encoding: "utf8" }).stdout).toBe(model);
  });
});
