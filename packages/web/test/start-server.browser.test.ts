// The Server page: starting and stopping the /v1 server, its port, and its keys.
import { once } from "node:events";
import { createServer } from "node:net";
import { freePort, tinyModel } from "@ingle/fixtures";
import OpenAI from "openai";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";

import { app, Home, IngleProcess } from "./ingle-process.ts";
import { useBrowser, useShared } from "./setup.ts";

const browser = useBrowser();
const home = useShared(async () => Home.make({ "tiny.gguf": await tinyModel({ endAfter: 20 }) }));

async function startApp(): Promise<IngleProcess> {
  return IngleProcess.start(app, { home: home() });
}

async function baseUrlOn(page: Page): Promise<string> {
  return page.locator("code.address").nth(1).innerText();
}

async function setPort(page: Page, port: number): Promise<void> {
  await page.getByRole("tab", { name: "Settings" }).click();
  await page.getByLabel("Port", { exact: true }).fill(String(port));
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved.").waitFor();
}

it("starts a server that the openai client uses, and stops it", async () => {
  await using ingle = await startApp();
  await using opened = await browser.open({ url: ingle.address });
  const { page } = opened;
  await page.goto(`${ingle.origin}/#/server`);
  await setPort(page, await freePort());
  await page.getByRole("button", { name: "Start Server" }).click();
  await page.getByRole("button", { name: "Stop Server" }).waitFor();
  const baseURL = await baseUrlOn(page);
  expect(baseURL).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  expect(new URL(baseURL).port).not.toBe(String(ingle.port));

  const client = new OpenAI({ baseURL, apiKey: "any text", maxRetries: 0 });
  expect((await client.models.list()).data.map(({ id }) => id)).toEqual(["tiny"]);
  const messages = [{ role: "user" as const, content: "Hello" }];
  const reply = await client.chat.completions.create({ model: "tiny", messages, max_tokens: 8 });
  expect(reply.choices[0]?.message.content).not.toBe("");
  await page.getByRole("button", { name: "Stop Server" }).click();
  await page.getByRole("button", { name: "Start Server" }).waitFor();
  await expect(client.models.list()).rejects.toThrow("Connection error");
  expect(opened.problems).toEqual([]);
});

it("moves to the next port if its own is taken, and reports it", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const address = taken.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  await using ingle = await startApp();
  await using opened = await browser.open({ url: ingle.address });
  const { page } = opened;
  await page.goto(`${ingle.origin}/#/server`);
  await setPort(page, port);
  await page.getByRole("button", { name: "Start Server" }).click();
  await page.getByText(`Port ${port} was taken`).waitFor();
  const baseURL = await baseUrlOn(page);
  expect((await fetch(`${baseURL}/models`)).status).toBe(200);
  taken.close();
  expect(opened.problems).toEqual([]);
});

it("creates a key that is shown once, and that programs need from then on", async () => {
  await using ingle = await startApp();
  await using opened = await browser.open({ url: ingle.address });
  const { page } = opened;
  await page.goto(`${ingle.origin}/#/server`);
  await page.getByRole("tab", { name: "Settings" }).click();
  await page.getByRole("button", { name: "Create key" }).first().click();
  await page.getByRole("dialog").getByLabel("Name").fill("editor");
  await page.getByRole("dialog").getByText("Limits").click();
  await page.getByRole("dialog").getByLabel("Models").fill("*");
  await page.getByRole("dialog").getByLabel("Tokens a day").fill("2000");
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
  const key = await page.getByRole("dialog").getByLabel("API key").inputValue();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByText("editor").first().waitFor();
  expect(await page.content()).not.toContain(key);
  await page.getByRole("button", { name: "Start Server" }).click();
  await page.getByRole("button", { name: "Stop Server" }).waitFor();
  const baseURL = await baseUrlOn(page);
  expect((await fetch(`${baseURL}/models`)).status).toBe(401);
  const client = new OpenAI({ baseURL, apiKey: key, maxRetries: 0 });
  const served = (await client.models.list()).data;
  expect(served).toHaveLength(1);
  await page.getByText("2K tokens a day").waitFor();
  const model = served[0]?.id ?? "";
  await client.chat.completions.create({ model, messages: [{ role: "user", content: "Hi" }] });
  await page.getByText(/used: 1 requests, \d+ tokens/).waitFor();
  await page.getByRole("button", { name: "Revoke editor" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page.getByText("No key is left, so the server rejects every request.").waitFor();
  expect((await fetch(`${baseURL}/models`)).status).toBe(401);
  await expect(client.models.list()).rejects.toMatchObject({ status: 401 });
  await page.getByRole("button", { name: "Stop Server" }).click();
  await page.getByRole("button", { name: "Start Server" }).waitFor();
  await page.getByText("No keys: programs on this machine do not need one.").waitFor();
});

it("starts with the settings on the screen, saved or not, and warns only of an address without a key", async () => {
  await using ingle = await startApp();
  await using opened = await browser.open({ url: ingle.address });
  const { page } = opened;
  await page.goto(`${ingle.origin}/#/server/settings`);
  const port = await freePort();
  await page.getByLabel("Port", { exact: true }).fill("no number");
  expect(await page.getByRole("button", { name: "Save and Start Server" }).isDisabled()).toBe(true);
  await page.getByLabel("Port", { exact: true }).fill(String(port));
  // Another view of the page loses nothing.
  await page.getByRole("tab", { name: "Connect" }).click();
  await page.getByRole("tab", { name: "Settings" }).click();
  expect(await page.getByLabel("Port", { exact: true }).inputValue()).toBe(String(port));
  await page.getByRole("button", { name: "Save and Start Server" }).click();
  await page.getByRole("button", { name: "Stop Server" }).waitFor();
  await page.getByText("The server is running with these settings.").waitFor();
  expect(await page.getByLabel("Port", { exact: true }).inputValue()).toBe(String(port));
  expect(new URL(await baseUrlOn(page)).port).toBe(String(port));
  await page.getByRole("button", { name: "Stop Server" }).click();
  await page.getByRole("button", { name: "Start Server" }).waitFor();

  await page.getByLabel("Host", { exact: true }).fill("0.0.0.0");
  const warning = page.getByText("so it starts only with a key");
  await warning.waitFor();
  await page.getByRole("button", { name: "Create key" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("phone");
  await dialog.getByRole("button", { name: "Create key" }).click();
  await dialog.getByRole("button", { name: "Done" }).click();
  await warning.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Revoke phone" }).click();
  await dialog.getByRole("button", { name: "Revoke" }).click();
  await warning.waitFor();
  await page.getByRole("button", { name: "Discard" }).click();
  await page.getByRole("button", { name: "Start Server", exact: true }).waitFor();
  expect(opened.problems).toEqual([]);
});
