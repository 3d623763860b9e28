// Every page in both themes and at both widths: no console messages, no policy violations, no horizontal overflow, and no serious
// accessibility faults.
import { tinyModel } from "@ingle/fixtures";
import { describe, expect, it } from "vitest";

import { seriousViolations } from "./accessible.ts";
import { serve } from "./ingle-process.ts";
import { useBrowser, useIngle } from "./setup.ts";
import { sizes, type Size, type Theme } from "./test-page.ts";

const browser = useBrowser();
const ingle = useIngle([...serve, "--threads", "1", "--ctx", "512"], async () => ({
  "tiny.gguf": await tinyModel(),
}));

const pages = ["chat", "text", "library", "server", "settings"];

describe.each(["light", "dark"] satisfies Theme[])("in %s", (theme) => {
  it.each(Object.keys(sizes) as Size[])("has no faults on a %s", async (size) => {
    await using opened = await browser.open({ theme, size, url: ingle().address });
    const { page } = opened;
    for (const name of pages) {
      await page.goto(`${ingle().origin}/#/${name}`);
      await page.locator("main h1, main h2, main textarea").first().waitFor();
      expect(await seriousViolations(page), name).toEqual([]);
      const overhang = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(overhang, name).toBeLessThanOrEqual(0);
    }
    expect(opened.problems).toEqual([]);
  });
});
