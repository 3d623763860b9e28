// Every page in both themes and at both widths: nothing is reported to the console, nothing breaks the page's policy, nothing is
// cut off at the side, and axe finds no serious fault.
import { tinyModel } from "@ingle/fixtures";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { seriousFaults } from "./accessible.ts";
import { launchChromium } from "./chromium.ts";
import { Home, IngleProcess } from "./ingle-process.ts";
import { sizes, TestPage, type Size, type Theme } from "./test-page.ts";

let browser: Browser;
let home: Home;
let ingle: IngleProcess;
beforeAll(async () => {
  browser = await launchChromium();
  home = await Home.make({ "tiny.gguf": await tinyModel() });
  ingle = await IngleProcess.start(["serve", "--port", "0", "--threads", "1", "--ctx", "512"], { home });
});
afterAll(async () => {
  await browser.close();
  await ingle[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

const pages = ["chat", "text", "library", "server", "settings"];

describe.each(["light", "dark"] satisfies Theme[])("in %s", (theme) => {
  it.each(Object.keys(sizes) as Size[])("has no fault on a %s", async (size) => {
    await using opened = await TestPage.open(browser, { theme, size, url: ingle.address });
    const { page } = opened;
    for (const name of pages) {
      await page.goto(`${ingle.origin}/#/${name}`);
      await page.locator("main h1, main h2, main textarea").first().waitFor();
      expect(await seriousFaults(page), name).toEqual([]);
      const overhang = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(overhang, name).toBeLessThanOrEqual(0);
    }
    expect(opened.problems).toEqual([]);
  });
});
