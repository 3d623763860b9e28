// The one browser of a test file.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll } from "vitest";

import { launchChromium } from "./chromium.ts";
import { TestPage, type TestPageOptions } from "./test-page.ts";

/** Starts it before the file's first test and ends it after the last; each opened page has a profile of its own. */
export function useBrowser(): { open: (options: TestPageOptions) => Promise<TestPage> } {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(async () => browser?.close());
  return {
    open: async (options) => {
      if (browser === undefined) throw new Error("pages are opened by tests");
      return TestPage.open(browser, options);
    },
  };
}
