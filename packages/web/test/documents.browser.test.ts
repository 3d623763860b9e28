// Documents that are longer than the context: which passages reach the model, how they are found, and what the page shows of them.
import { readFile } from "node:fs/promises";

import { tinyModel } from "@ingle/fixtures";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";

import { seriousViolations } from "./accessible.ts";
import { readArchive } from "../src/conversations/conversation.ts";
import { app, IngleProcess } from "./ingle-process.ts";
import { RecordingProxy } from "./recording-proxy.ts";
import { useBrowser, useIngle, useShared } from "./setup.ts";

const chatPath = "/v1/chat/completions";
const embeddingsPath = "/v1/embeddings";
const browser = useBrowser();

const chatModel = () => tinyModel({ endAfter: 20, contextLength: 2_048 });
const plain = useIngle(app, async () => ({ "tiny.gguf": await chatModel() }));
const embedding = useIngle(app, async () => ({
  "tiny.gguf": await chatModel(),
  "embed.gguf": await tinyModel({ architecture: "bert" }),
}));
const plainProxy = useShared(async () => RecordingProxy.start(plain().address));
const embeddingProxy = useShared(async () => RecordingProxy.start(embedding().address));

/** Reading the whole document takes seconds; other tests may use both cores meanwhile. */
const readingMs = 60_000;
const needle = "The lighthouse of Skerry has 147 steps, and its keeper paints them each spring.";
const other = "The bakery at the harbour sells rye bread on Tuesdays.";

/** About 60,000 tokens in lines of their own, with the two sentences in the middle. */
function longDocument(): string {
  const lines = Array.from(
    { length: 2_000 },
    (_nothing, at) =>
      `Entry ${at}: calm sea, wind from the west, ${at % 7} boats came in and ${at % 5} went out.`,
  );
  lines[900] = needle;
  lines[1_400] = other;
  return lines.join("\n\n");
}

interface Sent {
  role: string;
  content: string;
}

function lastMessages(proxy: RecordingProxy): Sent[] {
  const messages = proxy.requestsTo(chatPath).at(-1)?.body["messages"];
  return messages as Sent[]; // Without images, the page sends nothing else.
}

async function chooseTiny(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^(Choose a model|Model: )/ }).waitFor();
}

const totalLength = (messages: readonly Sent[]) =>
  messages.reduce((sum, { content }) => sum + content.length, 0);

it(
  "sends the passages that belong to each question, found by their words",
  { timeout: 120_000 },
  async () => {
    await using test = await browser.open({ url: plainProxy().address });
    const { page, chat } = test;
    await chooseTiny(page);
    await chat.attach("log.txt", "text/plain", longDocument());
    await page.getByText(/Only the passages of log\.txt that belong to the question are sent\./).waitFor();
    await page.getByText(/An embedding model would/).waitFor();
    await chat.askAndWait("How many steps does the lighthouse of Skerry have?");
    const [first] = lastMessages(plainProxy());
    expect(first?.content).toContain("File log.txt, line");
    expect(first?.content).toContain(needle);
    expect(first?.content).toMatch(/How many steps does the lighthouse of Skerry have\?$/);
    expect(totalLength(lastMessages(plainProxy()))).toBeLessThan(4_000);

    // Beside the question: counted, and each can be read.
    const question = chat.questions.first();
    await question.getByText(/^\d passages? with \d+ tokens, found by words$/).waitFor();
    const [, from, to] =
      /lines (\d+) to (\d+) of 3999:\n[^`]*```[^`]*147 steps/.exec(first?.content ?? "") ?? [];
    const place = `log.txt, lines ${Number(from).toLocaleString("en")} to ${Number(to).toLocaleString("en")} of 3,999`;
    await question.getByRole("button", { name: place.replace(",", "") }).click();
    const dialog = page.getByRole("dialog", { name: place });
    await dialog.getByText(needle).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.keyboard.press("Escape");

    // The next question has its own, and what was sent before stays as it was.
    await chat.askAndWait("On which day does the bakery sell rye bread?");
    const messages = lastMessages(plainProxy());
    expect(messages[0]).toEqual(first);
    expect(messages[2]?.content).toContain(other);
    expect(messages[2]?.content).not.toContain(needle);
    expect(plainProxy().requestsTo(embeddingsPath)).toHaveLength(0);

    // After a reload too, and a retry finds none anew.
    await page.reload();
    await question.getByText(/found by words$/).waitFor();
    await chat.replies.last().getByRole("button", { name: "Try again", exact: true }).click();
    await page.getByRole("group", { name: "Version 2 of 2" }).waitFor();
    await chat.wholeReply(1);
    expect(lastMessages(plainProxy()).map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(lastMessages(plainProxy())[2]).toEqual(messages[2]);
    expect(test.problems).toEqual([]);
  },
);

it(
  "embeds a document once, in batches, and finds passages by meaning too",
  { timeout: 120_000 },
  async () => {
    const proxy = embeddingProxy();
    await using test = await browser.open({ url: proxy.address });
    const { page, chat } = test;
    await chooseTiny(page);
    await chat.attach("log.txt", "text/plain", longDocument());
    await page.getByText(/found by their words and, with embed, by their meaning/).waitFor();
    await chat.ask("The lighthouse of Skerry has 147 steps, and its keeper paints them each spring?");
    await page.getByText(/^Reading log\.txt: \d+ of \d+ passages$/).waitFor();
    await chat.wholeReply(0, { timeout: readingMs });
    expect(lastMessages(proxy)[0]?.content).toContain(needle);
    expect(totalLength(lastMessages(proxy))).toBeLessThan(4_000);
    await chat.questions
      .first()
      .getByText(/found by words and meaning \(embed\)$/)
      .waitFor();
    const inputs = proxy.requestsTo(embeddingsPath).map(({ body }) => body["input"]);
    const texts = inputs.flat().map(String);
    expect(inputs.length).toBeGreaterThan(10);
    expect(texts.filter((text) => text.includes(needle)).length).toBeGreaterThan(0);

    // The document is not embedded again, not even after a reload.
    await page.reload();
    await chat.replies.first().waitFor();
    await chat.askAndWait("On which day does the bakery sell rye bread?");
    const later = proxy.requestsTo(embeddingsPath).slice(inputs.length);
    expect(later.map(({ body }) => body["input"])).toEqual([
      ["On which day does the bakery sell rye bread?"],
    ]);
    expect(lastMessages(proxy)[2]?.content).toContain("File log.txt, line");

    // Nor for another version of the question that has it.
    const beforeEdit = proxy.requestsTo(embeddingsPath).length;
    await chat.questions.first().getByRole("button", { name: "Edit" }).click();
    await page.getByRole("textbox", { name: "Your message" }).fill("Which boats came in?");
    await page.getByRole("button", { name: "Ask again" }).click();
    await page.getByRole("group", { name: "Version 2 of 2" }).waitFor();
    await chat.wholeReply(0);
    expect(lastMessages(proxy)[0]?.content).toMatch(/^These passages.*Which boats came in\?$/s);
    const edited = proxy.requestsTo(embeddingsPath).slice(beforeEdit);
    expect(edited.map(({ body }) => body["input"])).toEqual([["Which boats came in?"]]);

    // An export has what was found, and leaves out what can be computed again.
    const list = page.getByRole("complementary", { name: "Conversations" });
    await list.getByRole("button", { name: "More", exact: true }).click();
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: "Export all chats" }).click(),
    ]);
    const archive = readArchive(JSON.parse(await readFile(await saved.path(), "utf8")));
    expect(archive?.chats[0]?.images).toEqual({});
    const first = archive?.chats[0]?.messages.find(({ role }) => role === "user");
    expect(first).toMatchObject({ attachments: [{ isSearched: true }], found: { embedder: "embed" } });

    // Words alone, if the user wants that.
    await page.getByRole("button", { name: "Show chat settings" }).click();
    await page.getByRole("combobox", { name: "Find passages with" }).selectOption({ label: "Words only" });
    const before = proxy.requestsTo(embeddingsPath).length;
    await chat.askAndWait("Which bread does the bakery sell?");
    expect(lastMessages(proxy)[2]?.content).toContain(other);
    // What is below a question takes no width from it.
    const bubble = await chat.questions.last().locator(".bubble").boundingBox();
    expect(bubble?.height).toBeLessThan(60);
    expect(proxy.requestsTo(embeddingsPath)).toHaveLength(before);
    expect(test.problems).toEqual([]);
  },
);

it(
  "sends passages of a document that fits if the user wants that, and stops while it is read",
  { timeout: 90_000 },
  async () => {
    const proxy = embeddingProxy();
    await using test = await browser.open({ url: proxy.address, size: "phone", theme: "dark" });
    const { page, chat } = test;
    await chooseTiny(page);
    const short = Array.from({ length: 12 }, (_nothing, at) => `Paragraph ${at}. ${"rain ".repeat(30)}`).join(
      "\n\n",
    );
    await chat.attach("short.txt", "text/plain", `${short}\n\n${needle}`);
    const toggle = page.getByRole("button", {
      name: "Send only the passages of short.txt that belong to the question",
    });
    expect(await toggle.getAttribute("aria-pressed")).toBe("false");
    await toggle.focus();
    await page.keyboard.press("Enter");
    expect(await toggle.getAttribute("aria-pressed")).toBe("true");
    await chat.askAndWait("How many steps does the lighthouse have?");
    expect(lastMessages(proxy)[0]?.content).toMatch(
      /^These passages of longer files belong to the question:/,
    );
    await chat.questions
      .first()
      .getByText(/found by words and meaning/)
      .waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    const sent = proxy.requestsTo(chatPath).length;

    await page.getByRole("button", { name: "Show conversations" }).click();
    await chat.beginNew();
    await chat.attach("log.txt", "text/plain", longDocument());
    await chat.ask("How many steps does the lighthouse have?");
    await page.getByText(/^Reading log\.txt: \d+ of \d+ passages$/).waitFor();
    await chat.stop.click();
    await chat.replies.first().getByText("Stopped.").waitFor();
    expect(proxy.requestsTo(chatPath)).toHaveLength(sent);
    await chat.replies.first().getByRole("button", { name: "Continue", exact: true }).click();
    await chat.wholeReply(0, { timeout: readingMs });
    expect(lastMessages(proxy)[0]?.content).toContain("File log.txt, line");
    expect(test.problems).toEqual([]);
  },
);

it("says why meanings could not be compared, and finds passages by words", { timeout: 90_000 }, async () => {
  const embed = await readFile(await tinyModel({ architecture: "bert" }));
  await using broken = await IngleProcess.start(app, {
    models: { "tiny.gguf": await chatModel(), "broken.gguf": embed.subarray(0, embed.length - 4_096) },
  });
  await using proxy = await RecordingProxy.start(broken.address);
  await using test = await browser.open({ url: proxy.address });
  const { page, chat } = test;
  await chooseTiny(page);
  await chat.attach("log.txt", "text/plain", longDocument());
  await page.getByText(/with broken, by their meaning/).waitFor();
  await chat.askAndWait("How many steps does the lighthouse of Skerry have?");
  expect(lastMessages(proxy)[0]?.content).toContain(needle);
  const question = chat.questions.first();
  await question.getByText(/found by words$/).waitFor();
  await question.getByText(/^Their meaning could not be compared: ./).waitFor();
});
