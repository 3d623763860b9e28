// Runs axe-core on a page to find accessibility faults.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type Axe from "axe-core";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The serious and critical faults of the page in its current state, one sentence per element. */
export async function seriousViolations(page: Page): Promise<string[]> {
  // Runs in the page like a script in the developer tools; the page's policy forbids script elements.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(source);
  const { violations } = await page.evaluate(async (): Promise<AxeResults> => {
    const axe: typeof Axe = Reflect.get(globalThis, "axe");
    return axe.run({ resultTypes: ["violations"] });
  });
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.html.slice(0, 200)}`));
}
