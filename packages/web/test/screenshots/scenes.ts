// The screenshots, and how to get to each of them.
import type { Page } from "playwright-core";

import type { Size } from "../test-page.ts";
import { exampleChats, exampleModels } from "./example-chats.ts";

export interface Scene {
  name: string;
  /** A machine with models, one that has used them, or one without any. */
  home: "full" | "used" | "empty";
  /** Resolves when everything is visible. */
  show: (page: Page, size: Size) => Promise<void>;
}

/** The generated tokens of the text page, with their probabilities and alternatives. */
const written: [token: string, share: number, others: Record<string, number>][] = [
  [" old", 0.42, { " town": 0.21, " small": 0.12, " first": 0.06 }],
  [" light", 0.31, { " stone": 0.24, " harbour": 0.18, " house": 0.11 }],
  ["house", 0.97, { " of": 0.02 }],
  [" stood", 0.64, { " was": 0.22, " at": 0.06, " on": 0.03 }],
  [" alone", 0.08, { " on": 0.38, " at": 0.27, " high": 0.1 }],
  [" at", 0.55, { " on": 0.31, " against": 0.05 }],
  [" the", 0.96, { " land": 0.02 }],
  [" end", 0.61, { " edge": 0.33, " foot": 0.02 }],
  [" of", 0.99, { ",": 0.01 }],
  [" the", 0.88, { " a": 0.09 }],
  [" road", 0.12, { " world": 0.4, " bay": 0.16, " pier": 0.13 }],
  [".", 0.72, { ",": 0.24 }],
];

export const scenes: readonly Scene[] = [
  {
    name: "first-run",
    home: "empty",
    show: async (page) => waitFor(page, "button", /^Download|herunterladen/),
  },
  { name: "chat", home: "full", show: (page) => showChat(page, "trie") },
  { name: "side-by-side", home: "full", show: (page) => showChat(page, "tea") },
  { name: "tools", home: "full", show: showTools },
  { name: "text", home: "full", show: showText },
  {
    name: "library",
    home: "full",
    show: async (page) => {
      await go(page, "library");
      await page.locator(".models > li").nth(2).waitFor();
    },
  },
  {
    name: "hub",
    home: "full",
    show: async (page) => {
      await go(page, "library/hub/lfm2");
      await page.getByRole("button", { name: /LFM2-2\.6B-GGUF/ }).click();
      await page.locator(".offer .fit").first().waitFor();
    },
  },
  {
    name: "load",
    home: "full",
    show: async (page) => {
      await go(page, "library");
      const card = page.locator(".models > li").filter({ hasText: exampleModels.small });
      await card
        .getByRole("button", { name: /^(Load|Laden)/ })
        .first()
        .click();
      await page
        .getByRole("dialog")
        .getByText(/Longest context|Längster Kontext/)
        .waitFor();
    },
  },
  {
    name: "server",
    home: "full",
    show: startServer,
  },
  {
    name: "activity",
    home: "used",
    show: async (page) => {
      await startServer(page);
      const baseUrl = await page.locator("code.address").nth(1).innerText();
      for (const model of Object.values(exampleModels)) await askServer(baseUrl, model);
      await page.getByRole("tab", { name: /Activity|Aktivität/ }).click();
      await page.locator(".requests tbody tr").nth(2).waitFor();
      await page.locator(".requests").evaluate((rows) => rows.scrollIntoView({ block: "end" }));
    },
  },
  { name: "settings", home: "full", show: (page) => go(page, "settings") },
];

async function go(page: Page, route: string): Promise<void> {
  await page.evaluate((to) => {
    location.hash = `#/${to}`;
  }, route);
  await page.locator("main h1").first().waitFor();
}

async function startServer(page: Page): Promise<void> {
  await go(page, "server");
  const start = page.getByRole("button", { name: /Start Server|Server starten/ });
  const stop = page.getByRole("button", { name: /Stop Server|Server stoppen/ });
  await start.or(stop).waitFor();
  if (await start.isVisible()) await start.click();
  await stop.waitFor();
  await page.locator("pre").first().waitFor();
}

/** Sends a request as another program would. */
async function askServer(baseUrl: string, model: string): Promise<void> {
  const messages = [{ role: "user", content: "What is the capital of France?" }];
  const answer = await fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, messages, temperature: 0, seed: 1 }),
  });
  await answer.text();
}

async function waitFor(page: Page, role: "button", name: RegExp): Promise<void> {
  await page.getByRole(role, { name }).waitFor();
}

async function showChat(page: Page, id: "trie" | "tea"): Promise<void> {
  const title =
    exampleChats().chats.find(({ conversation }) => conversation.id === id)?.conversation.title ?? "";
  await page.evaluate(() => {
    location.hash = "#/chat";
  });
  const row = page.getByRole("link", { name: title });
  const list = page.getByRole("button", { name: /Show conversations|Unterhaltungen anzeigen/ });
  await row.or(list).first().waitFor();
  if (!(await row.isVisible())) await list.click();
  await row.click();
  await page.locator(".reply-text").first().waitFor();
  if (id === "trie") await page.locator(".diagram img").waitFor();
  await page.locator(".thread").evaluate((thread) => thread.scrollTo({ top: 0 }));
}

/** The call of a tool that a model asks for, with the question to the user. */
async function showTools(page: Page): Promise<void> {
  const parameters = { type: "object", properties: { path: { type: "string" } } };
  const description = "Reads a text file.";
  const tool = {
    name: "read_text_file",
    tool: "read_text_file",
    title: null,
    description,
    parameters,
    allowed: false,
  };
  const files = { name: "notes", kind: "stdio", state: "ready", problems: [], tools: [tool] };
  const list = { object: "list", data: [files], file: "mcp.json", problem: null, rounds: 25 };
  await page.route(/\/api\/v1\/mcp$/, (route) => route.fulfill({ json: list }));
  await page.route(/\/v1\/chat\/completions$/, async (route) => {
    const called = { name: tool.name, arguments: JSON.stringify({ path: "/home/ada/notes/todo.md" }) };
    const deltas = [
      { delta: { role: "assistant", content: "I will look into your notes." }, finish_reason: null },
      {
        delta: { tool_calls: [{ index: 0, id: "call-1", type: "function", function: called }] },
        finish_reason: null,
      },
      { delta: {}, finish_reason: "tool_calls" },
    ];
    const events = deltas.map((choice) => {
      const head = {
        id: "chatcmpl-1",
        object: "chat.completion.chunk",
        created: 0,
        model: exampleModels.large,
      };
      return JSON.stringify({ ...head, choices: [{ index: 0, ...choice }] });
    });
    const body = [...events, "[DONE]"].map((data) => `data: ${data}\n\n`).join("");
    await route.fulfill({ contentType: "text/event-stream", body });
  });
  await go(page, "chat");
  await page.getByRole("button", { name: /^(Tools|Werkzeuge)/ }).click();
  await page.getByRole("switch").click();
  await page.keyboard.press("Escape");
  await page.locator("#composer-text").fill("What is on my list for today?");
  await page.locator(".composer .button.primary").click();
  await page.locator(".tool-question").waitFor();
}

async function showText(page: Page): Promise<void> {
  await page.route(/\/v1\/completions$/, async (route) => {
    const events = written.map(([token, share, others]) => {
      const likeliest = Object.entries({ [token]: share, ...others }).map(([text, part]) => [
        text,
        Math.log(part),
      ]);
      const logprobs = {
        tokens: [token],
        token_logprobs: [Math.log(share)],
        top_logprobs: [Object.fromEntries(likeliest)],
        text_offset: [0],
      };
      const choices = [{ index: 0, text: token, logprobs, finish_reason: null }];
      return { id: "cmpl-1", object: "text_completion", created: 0, model: exampleModels.small, choices };
    });
    const body = [...events.map((event) => JSON.stringify(event)), "[DONE]"]
      .map((data) => `data: ${data}\n\n`)
      .join("");
    await route.fulfill({ contentType: "text/event-stream", body });
  });
  await go(page, "text");
  await page.locator("main textarea").fill("The");
  await page.locator("main .button.primary").click();
  await page.getByRole("button", { name: /alone/ }).click();
  await page.locator(".page").evaluate((scrolled) => scrolled.scrollTo({ top: 0 }));
}
