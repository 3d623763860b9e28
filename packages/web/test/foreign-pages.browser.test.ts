// Pages of other sites and of other ports of this machine, in the browser that has Ingle's cookie: they learn nothing and change
// nothing, whether `ingle app` or `ingle serve` shows the page.
import { tinyModel } from "@ingle/fixtures";
import type { ManagedModel, ServerControl } from "@ingle/protocol";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { launchChromium } from "./chromium.ts";
import { ForeignSite, tryEverything } from "./foreign-page.ts";
import { Home, IngleProcess } from "./ingle-process.ts";
import { TestPage } from "./test-page.ts";

let browser: Browser;
let home: Home;
beforeAll(async () => {
  browser = await launchChromium();
  home = await Home.make({ "tiny.gguf": await tinyModel() });
});
afterAll(async () => {
  await browser.close();
  await home[Symbol.asyncDispose]();
});

const hosts = {
  "ingle app": {
    command: ["app", "--no-open", "--port", "0"],
    orders: [
      { path: "/api/v1/server/start", body: { wait: true } },
      { path: "/api/v1/server/settings", body: { starts_with_app: true, host: "0.0.0.0" } },
      { path: "/api/v1/models/remove", body: { model: "tiny" } },
    ],
  },
  "ingle serve": {
    command: ["serve", "--port", "0", "--threads", "1", "--ctx", "512"],
    orders: [
      { path: "/api/v1/models/unload", body: { model: "tiny" } },
      { path: "/api/v1/jobs", body: { kind: "pull", model: "acme/none" } },
    ],
  },
};

/** What an order could have changed, as Ingle's own page reads it. */
async function stateOf(page: Page): Promise<unknown> {
  return page.evaluate(async () => {
    const { status, settings }: ServerControl = await (await fetch("/api/v1/server")).json();
    const { data }: { data: ManagedModel[] } = await (await fetch("/api/v1/models")).json();
    return { status, settings, models: data.map((model) => [model.id, model.status]) };
  });
}

describe.each(Object.entries(hosts))("%s", (_name, { command, orders }) => {
  it.each(["localhost", "127.0.0.1"] as const)("is closed to a page of another port of %s", async (name) => {
    await using ingle = await IngleProcess.start(command, { home });
    await using site = await ForeignSite.start(name);
    await using opened = await TestPage.open(browser, { url: ingle.address });
    const before = await stateOf(opened.page);
    expect(before).toMatchObject({ models: [["tiny", expect.any(String)]] });

    const foreign = await opened.tab(site.origin);
    const attempts = await foreign.evaluate(tryEverything, { ingle: ingle.origin, orders });
    expect(attempts.length).toBeGreaterThan(15);
    expect(attempts.filter(({ got }) => got !== "nothing")).toEqual([]);
    expect(await stateOf(opened.page)).toEqual(before);
  });

  it("is shown in no frame, obeys no form, and is a stranger to who opened its window", async () => {
    await using ingle = await IngleProcess.start(command, { home });
    await using site = await ForeignSite.start("127.0.0.1");
    await using opened = await TestPage.open(browser, { url: ingle.address });
    const before = await stateOf(opened.page);

    const framing = await opened.tab(site.origin);
    await framing.evaluate((url) => {
      const frame = document.createElement("iframe");
      frame.src = url;
      document.body.append(frame);
    }, `${ingle.origin}/`);
    await expect.poll(() => framing.frames()[1]?.url()).toMatch(/^chrome-error:/);

    for (const { path } of orders) {
      const posting = await opened.tab(site.origin);
      const replied = posting.waitForResponse((response) => response.url() === ingle.origin + path);
      await posting.evaluate((url) => {
        const form = document.createElement("form");
        form.method = "post";
        form.action = url;
        form.enctype = "text/plain";
        const field = document.createElement("input");
        field.name = '{"wait":true,"model":"tiny","a":"';
        field.value = '"}';
        form.append(field);
        document.body.append(form);
        form.submit();
      }, ingle.origin + path);
      expect((await replied).status()).toBeGreaterThanOrEqual(400);
    }

    const opener = await opened.tab(site.origin);
    const [popup] = await Promise.all([
      opened.context.waitForEvent("page"),
      opener.evaluate((url) => {
        Reflect.set(globalThis, "ingle", window.open(url));
      }, `${ingle.origin}/`),
    ]);
    await popup.waitForLoadState();
    expect(await popup.evaluate(() => window.opener === null)).toBe(true);
    expect(await opener.evaluate(() => Reflect.get(globalThis, "ingle").closed)).toBe(true);

    expect(await stateOf(opened.page)).toEqual(before);
  });
});

it("the app's address without its token shows nothing of what is there", async () => {
  await using ingle = await IngleProcess.start(hosts["ingle app"].command, { home });
  await using opened = await TestPage.open(browser, { url: ingle.origin });
  await opened.page.getByText("Open Ingle by its own address").waitFor();
  const status = await opened.page.evaluate(async () => (await fetch("/api/v1/models")).status);
  expect(status).toBe(401);
});
