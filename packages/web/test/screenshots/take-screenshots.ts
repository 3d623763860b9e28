// `pnpm --filter @ingle/web screenshots` takes the screenshots of docs/app.md and the README: every page in both themes and at
// both widths.
// Requires a build. `--language de --out FOLDER` takes them in German, to check that nothing is cut off.
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import type { Browser, Page } from "playwright-core";

import { launchChromium } from "../chromium.ts";
import { app, Home, IngleProcess } from "../ingle-process.ts";
import { sizes, TestPage, type Size, type Theme } from "../test-page.ts";
import { exampleChats } from "./example-chats.ts";
import { exampleHome, exampleHub } from "./example-home.ts";
import { scenes, type Scene } from "./scenes.ts";

/** WebP quality without visible artefacts. */
const quality = 82;

const { values } = parseArgs({
  options: {
    out: { type: "string", default: path.join(import.meta.dirname, "../../../../docs/images/app") },
    language: { type: "string", default: "en" },
    only: { type: "string" },
  },
});

await rm(values.out, { recursive: true, force: true });
await mkdir(values.out, { recursive: true });
const browser = await launchChromium();
await using hub = await exampleHub();
for (const kind of ["empty", "full", "used"] as const) {
  await using home = kind === "empty" ? await Home.make() : await exampleHome();
  await using ingle = await IngleProcess.start(app, { home, env: { HF_ENDPOINT: hub.url } });
  const own = scenes.filter(
    (scene) => scene.home === kind && (values.only === undefined || scene.name === values.only),
  );
  for (const size of Object.keys(sizes) as Size[]) {
    for (const theme of ["light", "dark"] satisfies Theme[]) {
      await takeAll(own, { browser, ingle, size, theme });
    }
  }
}
await browser.close();

interface Setting {
  browser: Browser;
  ingle: IngleProcess;
  size: Size;
  theme: Theme;
}

async function takeAll(
  own: readonly Scene[],
  { browser: within, ingle, size, theme }: Setting,
): Promise<void> {
  await using opened = await TestPage.open(within, { size, theme });
  const { page, chat } = opened;
  await page.addInitScript((language) => localStorage.setItem("ingle-language", language), values.language);
  await page.goto(ingle.address);
  if (own.some(({ home }) => home !== "empty")) {
    await chat.importChats(exampleChats());
    await page.locator(".toast").first().waitFor();
  }
  // Like on a phone, where scroll bars overlay the page only while scrolling.
  if (size === "phone")
    await (await page.context().newCDPSession(page)).send("Emulation.setScrollbarsHidden", { hidden: true });
  for (const { name, show } of own) {
    await page.goto(`${ingle.origin}/`);
    await page.reload();
    await show(page, size);
    await settled(page);
    const file = path.join(values.out, `${name}-${size}-${theme}.webp`);
    await writeFile(file, await webp(page));
    process.stdout.write(`${file}\n`);
  }
  for (const problem of opened.problems) process.stderr.write(`${size}, ${theme}: ${problem}\n`);
}

/** Waits for fonts, images and two frames. */
async function settled(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await document.fonts.ready;
    await Promise.all([...document.images].map((image) => image.decode().catch(() => undefined)));
    for (let frames = 0; frames < 2; frames += 1) await new Promise(requestAnimationFrame);
  });
}

/** A screenshot of the viewport. Playwright itself does not write WebP. */
async function webp(page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality });
  await session.detach();
  return Buffer.from(data, "base64");
}
