// What the tests of a file share: one browser, and processes that run from the first test to the last.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll } from "vitest";

import { launchChromium, type BrowserChoice } from "./chromium.ts";
import { IngleProcess, type IngleOptions, type ModelFiles } from "./ingle-process.ts";
import { TestPage, type TestPageOptions } from "./test-page.ts";

/** Each opened page has its own browser profile. */
export function useBrowser(choice?: BrowserChoice): {
  open: (options?: TestPageOptions) => Promise<TestPage>;
} {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await launchChromium(choice);
  });
  afterAll(async () => browser?.close());
  return {
    open: async (options) => {
      if (browser === undefined) throw new Error("Pages can only be opened in tests.");
      return TestPage.open(browser, options);
    },
  };
}

/** Makes something before the first test and disposes of it after the last. Returns a function that returns it. */
export function useShared<Shared extends AsyncDisposable>(make: () => Promise<Shared>): () => Shared {
  let shared: Shared | undefined;
  beforeAll(async () => {
    shared = await make();
  });
  afterAll(async () => shared?.[Symbol.asyncDispose]());
  return () => {
    if (shared === undefined) throw new Error("Shared things are only available in tests.");
    return shared;
  };
}

/** Runs `ingle` with a home of its own for all tests of the file. */
export function useIngle(
  command: readonly string[],
  models: () => Promise<ModelFiles>,
  options?: IngleOptions,
): () => IngleProcess {
  return useShared(async () => IngleProcess.start(command, { ...options, models: await models() }));
}
