// docs/clients.md lists the programs of `ingle launch` with what their recipes say.
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { recipes } from "./recipes/all-recipes.ts";

const page = await readFile(new URL("../../../../../docs/clients.md", import.meta.url), "utf8");
const [, section = ""] = page.split("\n## ingle launch\n");

/** The row's cells after the name, without the last one: whether the program was run. */
function cells(name: string): string[] | undefined {
  const row = section.split("\n").find((line) => line.startsWith(`| \`${name}\` |`));
  return row
    ?.split("|")
    .slice(2, -2)
    .map((cell) => cell.trim());
}

describe("docs/clients.md", () => {
  it.each(Object.values(recipes))("has the row of $name", (recipe) => {
    const [title, version = "", ...needs] = cells(recipe.name) ?? [];
    expect(title).toBe(recipe.title);
    expect(recipe.source).toContain(version);
    expect(version).not.toBe("");
    expect(needs).toEqual(
      recipe.kind === "by-hand"
        ? ["by hand", "", ""]
        : [
            recipe.contextMin.toLocaleString("en-US"),
            recipe.needsTools ? "needed" : "no",
            recipe.saved === undefined ? "no" : "yes",
          ],
    );
  });
});
