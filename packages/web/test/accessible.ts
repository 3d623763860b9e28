// axe-core on a page: what a person with a screen reader, a keyboard or weak eyes would stumble over.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The serious and critical faults of the page as it is now, one sentence for each element. */
export async function seriousFaults(page: Page): Promise<string[]> {
  // Not as a script of the page, which its policy forbids: as the developer tools run one.
  await page.evaluate(source);
  const { violations } = await page.evaluate(async (): Promise<AxeResults> => {
    const axe: { run: () => Promise<AxeResults> } = Reflect.get(globalThis, "axe");
    return axe.run();
  });
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.html.slice(0, 200)}`));
}
