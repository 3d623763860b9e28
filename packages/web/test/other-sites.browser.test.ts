// Pages of other sites and of other ports of this machine, in a browser with Ingle's cookie: they can read nothing and change
// nothing, neither of `ingle app` nor of `ingle serve`.
import { tinyModel } from "@ingle/fixtures";
import type { ManagedModel, ServerControl } from "@ingle/protocol";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";

import { app, Home, IngleProcess, serve } from "./ingle-process.ts";
import { OtherSite, tryEverything } from "./other-site.ts";
import { useBrowser, useShared } from "./setup.ts";

const browser = useBrowser();
const home = useShared(async () => Home.make({ "tiny.gguf": await tinyModel() }));

const hosts = {
  "ingle app": {
    command: app,
    requests: [
      { path: "/api/v1/server/start", body: { wait: true } },
      { path: "/api/v1/server/settings", body: { starts_with_app: true, host: "0.0.0.0" } },
      { path: "/api/v1/models/remove", body: { model: "tiny" } },
    ],
  },
  "ingle serve": {
    command: [...serve, "--threads", "1", "--ctx", "512"],
    requests: [
      { path: "/api/v1/models/unload", body: { model: "tiny" } },
      { path: "/api/v1/jobs", body: { kind: "pull", model: "acme/none" } },
    ],
  },
};

/** Everything that a request could have changed, read by Ingle's own page. */
async function readState(page: Page): Promise<unknown> {
  return page.evaluate(async () => {
    const { status, settings }: ServerControl = await (await fetch("/api/v1/server")).json();
    const { data }: { data: ManagedModel[] } = await (await fetch("/api/v1/models")).json();
    return { status, settings, models: data.map((model) => [model.id, model.status]) };
  });
}

describe.each(Object.entries(hosts))("%s", (_name, { command, requests }) => {
  it.each(["localhost", "127.0.0.1"] as const)("is closed to a page on another port of %s", async (name) => {
    await using ingle = await IngleProcess.start(command, { home: home() });
    await using site = await OtherSite.start(name);
    await using opened = await browser.open({ url: ingle.address });
    const before = await readState(opened.page);
    expect(before).toMatchObject({ models: [["tiny", expect.any(String)]] });

    const other = await opened.tab(site.origin);
    const attempts = await other.evaluate(tryEverything, { ingle: ingle.origin, requests });
    expect(attempts.length).toBeGreaterThan(15);
    expect(attempts.filter(({ got }) => got !== "nothing")).toEqual([]);
    expect(await readState(opened.page)).toEqual(before);
  });

  it("cannot be framed, rejects forms, and cuts the link to the page that opened it", async () => {
    await using ingle = await IngleProcess.start(command, { home: home() });
    await using site = await OtherSite.start("127.0.0.1");
    await using opened = await browser.open({ url: ingle.address });
    const before = await readState(opened.page);

    const framing = await opened.tab(site.origin);
    await framing.evaluate((url) => {
      const frame = document.createElement("iframe");
      frame.src = url;
      document.body.append(frame);
    }, `${ingle.origin}/`);
    await expect.poll(() => framing.frames()[1]?.url()).toMatch(/^chrome-error:/);

    for (const { path } of requests) {
      const posting = await opened.tab(site.origin);
      const responded = posting.waitForResponse((response) => response.url() === ingle.origin + path);
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
      expect((await responded).status()).toBeGreaterThanOrEqual(400);
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

    expect(await readState(opened.page)).toEqual(before);
  });
});

it("the app's address without its token reveals nothing", async () => {
  await using ingle = await IngleProcess.start(app, { home: home() });
  await using opened = await browser.open({ url: ingle.origin });
  await opened.page.getByText("Open Ingle from its own link").waitFor();
  const status = await opened.page.evaluate(async () => (await fetch("/api/v1/models")).status);
  expect(status).toBe(401);
});
