// Tools of MCP servers in a chat: a real server's process, and real models that are made to call its tools.
import { readFile, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Ingle } from "@ingle/client";
import { tinyModel, tinyVisionModel } from "@ingle/fixtures";
import type { Locator, Page } from "playwright-core";
import { afterEach, beforeEach, expect, it } from "vitest";

import { seriousViolations } from "./accessible.ts";
import { app, serve } from "./ingle-process.ts";
import { useBrowser, useIngle } from "./setup.ts";
import type { TestPage, Theme } from "./test-page.ts";

const serverPackage = path.dirname(fileURLToPath(import.meta.resolve("@ingle/server/package.json")));
const program = path.join(serverPackage, "test/tool-server.js");

const browser = useBrowser();
const models = async () => {
  const vision = await tinyVisionModel({ architecture: "qwen2vl", endAfter: 20 });
  return {
    "calling.gguf": await tinyModel({ vocabulary: "qwen2", contextLength: 8192, endAfter: 20 }),
    "seeing.gguf": vision.model,
    "mmproj-seeing.gguf": vision.projector,
  };
};
const ingle = useIngle(app, models);
const other = useIngle([...serve, "--model", "calling"], async () => ({ "calling.gguf": await tinyModel() }));

let log: string;
let tests = 0;
beforeEach(async () => {
  const { folder } = ingle().home;
  tests += 1;
  log = path.join(folder, `log-${tests}`);
  const tools = { command: process.execPath, args: [program, log] };
  const missing = { command: "no-such-program" };
  await mkdir(path.join(folder, "config"), { recursive: true });
  await writeFile(
    path.join(folder, "config", "mcp.json"),
    JSON.stringify({ mcpServers: { [`tools-${tests}`]: tools, missing } }),
  );
});

afterEach(async () => {
  const apiKey = new URL(ingle().address).searchParams.get("token") ?? "";
  await new Ingle({ baseUrl: ingle().origin, apiKey }).mcp.stop(`tools-${tests}`);
});

/** What the server's process has noted so far: its start, and each call. */
async function noted(): Promise<string[]> {
  const text = await readFile(log, "utf8").catch(() => "");
  return text.split("\n").filter((line) => line !== "");
}

interface WireMessage {
  role: string;
  content: unknown;
}

interface Sent {
  messages: WireMessage[];
  tools?: { function: { name: string } }[];
  tool_choice?: unknown;
}

/** Random weights call a tool only where they must: the first request after each question requires a call. Runs in the page. */
function requireCall(tool: string): void {
  const send = window.fetch;
  window.fetch = (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input, location.href);
    if (typeof init?.body !== "string" || pathname !== "/v1/chat/completions") return send(input, init);
    const body = JSON.parse(init.body) as Sent;
    const isFirst = body.tools !== undefined && body.messages.at(-1)?.role === "user";
    const choice = { type: "function", function: { name: tool } };
    const required = isFirst ? { tool_choice: choice, parallel_tool_calls: false } : {};
    return send(input, { ...init, body: JSON.stringify({ ...body, temperature: 0, ...required }) });
  };
}

/** A chat with this model, which calls this tool after each question. */
async function chatCalling(
  tool: string,
  { model = "calling", theme = "light" }: { model?: string; theme?: Theme } = {},
): Promise<{ test: TestPage; sent: Sent[]; call: Locator }> {
  const test = await browser.open({ theme });
  const { page } = test;
  const sent: Sent[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/v1/chat/completions")) sent.push(request.postDataJSON() as Sent);
  });
  await page.addInitScript(requireCall, tool);
  await page.goto(ingle().address);
  await test.chat.choose(model);
  return { test, sent, call: test.page.getByRole("region", { name: `${tool} of tools-${tests}` }) };
}

async function toolSwitch(page: Page, name = `tools-${tests}`): Promise<Locator> {
  await page.getByRole("button", { name: /^Tools/ }).click();
  return page.getByRole("dialog", { name: "Tools" }).getByRole("switch", { name, exact: true });
}

async function turnOn(page: Page): Promise<void> {
  const one = await toolSwitch(page);
  await one.click();
  await page.getByText("Running", { exact: true }).waitFor();
  await expect.poll(() => one.isChecked()).toBe(true);
  await page.keyboard.press("Escape");
}

const results = ({ messages }: Sent) =>
  messages.filter(({ role }) => role === "tool").map(({ content }) => content);

it("runs a call when it is allowed, sends its result, and runs nothing on a reload", async () => {
  const { test, sent, call } = await chatCalling("add");
  await using _page = test;
  const { page, chat } = test;
  const tools = await toolSwitch(page);
  expect(await tools.isChecked()).toBe(false);
  await page.keyboard.press("Escape");
  expect(await noted()).toEqual([]);
  await turnOn(page);
  expect(await noted()).toHaveLength(1);

  await chat.ask("What is the sum?");
  await call.getByText("needs your approval").waitFor();
  expect(await seriousViolations(page)).toEqual([]);
  const written = await call.locator(".tool-text").first().innerText();
  const { a, b } = JSON.parse(written) as { a: number; b: number };
  expect(await noted()).toHaveLength(1);
  await call.getByRole("button", { name: "Allow once" }).click();
  await chat.wholeReply(0);
  await call.getByText("done", { exact: true }).waitFor();
  expect((await noted()).slice(1)).toEqual([`called add ${JSON.stringify({ a, b })}`]);
  expect(sent.map(results)).toEqual([[], [`The sum is ${a + b}.`]]);
  await call.getByText("Result").click();
  await call.getByText(`The sum is ${a + b}.`).waitFor();

  const before = await noted();
  await page.reload();
  await call.getByText("done", { exact: true }).waitFor();
  await page.getByRole("button", { name: /^Tools: \d+ in this chat$/ }).waitFor();
  expect(await noted()).toEqual(before);
  expect(test.problems).toEqual([]);
});

it("tells the model of a refusal, asks no more for a tool that is always allowed, and offers none when it is off", async () => {
  const { test, sent, call } = await chatCalling("add");
  await using _page = test;
  const { page, chat } = test;
  await turnOn(page);
  await chat.ask("One?");
  await call.getByRole("button", { name: "Refuse" }).click();
  await chat.wholeReply(0);
  await call.getByText("refused").waitFor();
  expect(sent.map(results).at(-1)).toEqual(["Error: The user did not allow this call."]);
  expect(await noted()).toHaveLength(1);

  await chat.ask("Two?");
  await call.last().getByRole("button", { name: "Always allow this tool" }).click();
  await chat.wholeReply(1);
  await chat.askAndWait("Three?");
  expect((await noted()).slice(1)).toHaveLength(2);
  await toolSwitch(page);
  await page.getByText("5 tools").click();
  expect(await seriousViolations(page)).toEqual([]);
  await page
    .getByRole("listitem")
    .filter({ hasText: "Adds two numbers" })
    .getByText("always allowed")
    .waitFor();
  await page.keyboard.press("Escape");

  await (await toolSwitch(page)).click();
  await page.keyboard.press("Escape");
  await chat.askAndWait("Four?");
  expect(sent.at(-1)?.tools).toBeUndefined();
  expect((await noted()).slice(1)).toHaveLength(2);

  await toolSwitch(page);
  await page.getByRole("button", { name: `Stop tools-${tests}` }).click();
  await page
    .getByRole("listitem")
    .filter({ hasText: `tools-${tests}` })
    .getByText("Not running")
    .waitFor();
  expect(test.problems).toEqual([]);
});

it("stops a running call with the reply, and goes on without its result", async () => {
  const { test, sent, call } = await chatCalling("wait");
  await using _page = test;
  const { page, chat } = test;
  await turnOn(page);
  await chat.ask("Wait.");
  await call.getByRole("button", { name: "Allow once" }).click();
  await expect.poll(noted).toContain("called wait {}");
  await call.getByText("running").waitFor();
  await chat.stop.click();
  await call.getByText("stopped", { exact: true }).waitFor();
  await expect.poll(noted).toContain("cancelled");
  await chat.replies.first().getByRole("button", { name: "Continue" }).click();
  await chat.wholeReply(0);
  expect(results(sent.at(-1) ?? { messages: [] })).toEqual([
    "Error: This call was stopped before it returned a result.",
  ]);
  expect((await noted()).filter((line) => line.startsWith("called"))).toHaveLength(1);
  expect(test.problems).toEqual([]);
});

it("does not run a call that was asked for when the page was reloaded", async () => {
  const { test, call } = await chatCalling("add");
  await using _page = test;
  const { page, chat } = test;
  await turnOn(page);
  await chat.ask("What is the sum?");
  await call.getByRole("button", { name: "Allow once" }).waitFor();
  await page.reload();
  await call.getByText("stopped", { exact: true }).waitFor();
  await page.getByText("The page was closed before this answer was finished.").waitFor();
  expect(await page.getByRole("button", { name: "Allow once" }).count()).toBe(0);
  expect(await noted()).toHaveLength(1);
  expect(test.problems).toEqual([]);
});

it("says why a server has ended or cannot be started, and asks before it starts again", async () => {
  const { test, call } = await chatCalling("crash", { theme: "dark" });
  await using _page = test;
  const { page, chat } = test;
  await turnOn(page);
  await chat.ask("Crash.");
  await call.getByRole("button", { name: "Allow once" }).click();
  await chat.wholeReply(0);
  await call.getByText("failed").waitFor();
  await call.getByText("Result").click();
  await call.getByText(`Error: The MCP server "tools-${tests}" has ended: Error: out of luck.`).waitFor();
  await page.getByText(`The models cannot call the tools of tools-${tests}: not running.`).waitFor();
  const ended = await toolSwitch(page);
  await page.getByText("It has ended: Error: out of luck.").waitFor();
  expect(await ended.isChecked()).toBe(false);
  const dialog = page.getByRole("dialog", { name: "Tools" });
  await dialog.getByRole("switch", { name: "missing" }).click();
  await dialog.getByText("It cannot be started: there is no program no-such-program.").waitFor();
  expect(await dialog.getByRole("switch", { name: "missing" }).isChecked()).toBe(false);
  expect(await seriousViolations(page)).toEqual([]);
  expect(await noted()).toHaveLength(2);
  expect(test.problems).toEqual([]);
});

it("shows an image of a tool, and sends it to a model that reads images", async () => {
  const { test, sent, call } = await chatCalling("picture", { model: "seeing" });
  await using _page = test;
  const { page, chat } = test;
  await turnOn(page);
  await chat.ask("Show one.");
  await call.getByRole("button", { name: "Allow once" }).click();
  await chat.wholeReply(0);
  await call.getByText("Result").click();
  const image = call.getByRole("img", { name: "Image from the tool" });
  await expect.poll(() => image.evaluate((shown: HTMLImageElement) => shown.naturalWidth)).toBe(8);
  expect(sent.map(results).at(-1)).toEqual([
    [
      { type: "text", text: "Here:" },
      { type: "image_url", image_url: { url: expect.stringContaining("data:image/png;base64,") } },
    ],
  ]);
  expect(test.problems).toEqual([]);
});

it("has no tools on the page of `ingle serve`", async () => {
  await using test = await browser.open({ url: other().address });
  await test.chat.composer.waitFor();
  await test.page.getByRole("button", { name: "Attach files" }).waitFor();
  expect(await test.page.getByRole("button", { name: /^Tools/ }).count()).toBe(0);
});
