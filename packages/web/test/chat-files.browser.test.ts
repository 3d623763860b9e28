// Files of a chat: attached texts and PDFs, exports, and imports.
import { readFile } from "node:fs/promises";
import { drawImage, encodePng, pdfFile, tinyModel } from "@ingle/fixtures";
import { strToU8, zipSync } from "fflate";
import type { Download, Page } from "playwright-core";
import { expect, it } from "vitest";

import { fileText } from "../src/replies/chat-request.ts";
import { serve } from "./ingle-process.ts";
import { RecordingProxy } from "./recording-proxy.ts";
import { useBrowser, useIngle, useShared } from "./setup.ts";

const chatPath = "/v1/chat/completions";
const browser = useBrowser();
const ingle = useIngle([...serve, "--model", "tiny", "--threads", "1"], async () => ({
  "tiny.gguf": await tinyModel({ endAfter: 20 }),
}));
const proxy = useShared(async () => RecordingProxy.start(ingle().address));

const docxType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

function wordXml(body: string): string {
  const namespace = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
  return `<?xml version="1.0"?><w:document xmlns:w="${namespace}"><w:body>${body}</w:body></w:document>`;
}

/** A ZIP file with these parts. */
function docxFile(parts: Readonly<Record<string, string>>): Buffer {
  const files = Object.entries(parts).map(([name, text]) => [name, strToU8(text)] as const);
  return Buffer.from(zipSync(Object.fromEntries(files)));
}

/** As counted by the server. */
async function countTokens(content: string): Promise<number> {
  const answer = await fetch(`${ingle().origin}/v1/tokenize`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "tiny", content, add_special: false }),
  });
  const { count }: { count: number } = await answer.json();
  return count;
}

async function savedBy(page: Page, act: () => Promise<void>): Promise<{ name: string; text: string }> {
  const [download]: [Download, void] = await Promise.all([page.waitForEvent("download"), act()]);
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8") };
}

it("sends texts and PDFs as text, and shows their token counts", async () => {
  await using test = await browser.open({ url: proxy().address });
  const { page, chat } = test;
  await chat.askAndWait("Hello"); // loads the model, so that tokens can be counted
  const notes = "# Notes\n\nThe harbour opens at seven.\n```js\n1 + 1\n```\n";
  await chat.attach("notes.md", "text/markdown", notes);
  const report = "The lighthouse was built in 1863.";
  await chat.attach("report.pdf", "application/pdf", pdfFile({ Helvetica: report }));
  const expected = [fileText("notes.md", notes), fileText("report.pdf", report)];
  const chips = page.locator(".draft-attachment");
  await chips
    .filter({ hasText: "notes.md" })
    .getByText(`${await countTokens(expected[0] ?? "")} tokens`)
    .waitFor();
  await chips
    .filter({ hasText: "report.pdf" })
    .getByText(`${await countTokens(expected[1] ?? "")} tokens`)
    .waitFor();
  await chat.askAndWait("When, and how old?");
  const messages = proxy().requestsTo(chatPath).at(-1)?.body["messages"];
  expect(messages).toMatchObject([
    { content: "Hello" },
    { role: "assistant" },
    { role: "user", content: [...expected, "When, and how old?"].join("\n\n") },
  ]);
  expect(test.problems).toEqual([]);
});

it("reads Windows-1252, which older programs write", async () => {
  await using test = await browser.open({ url: proxy().address });
  const { page, chat } = test;
  await chat.attach("price.txt", "text/plain", Buffer.from([0x35, 0x20, 0x80, 0x20, 0x84, 0x6f, 0x6b, 0x93]));
  await page.locator(".draft-attachment").filter({ hasText: "price.txt" }).waitFor();
  await chat.askAndWait("How much?");
  const messages = proxy().requestsTo(chatPath).at(-1)?.body["messages"];
  expect(JSON.stringify(messages)).toContain("5 € „ok“");
});

it("reads a PDF without warnings about fonts that are not embedded", async () => {
  await using test = await browser.open({ url: proxy().address });
  const { page, chat } = test;
  await chat.attach("letter.pdf", "application/pdf", pdfFile({ Helvetica: "Dear reader", Symbol: "abc" }));
  await page.locator(".draft-attachment").filter({ hasText: "letter.pdf" }).waitFor();
  await chat.askAndWait("What is it?");
  const messages = proxy().requestsTo(chatPath).at(-1)?.body["messages"];
  expect(JSON.stringify(messages)).toContain("File letter.pdf:\\n```\\nDear reader");
  expect(test.problems).toEqual([]);
});

it("sends Word documents as text, with headings, lists and tables", async () => {
  await using test = await browser.open({ url: proxy().address });
  const { page, chat } = test;
  const textRun = (text: string) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;
  const cell = (...texts: string[]) =>
    `<w:tc>${texts.map((text) => `<w:p>${textRun(text)}</w:p>`).join("")}</w:tc>`;
  const document = wordXml(
    [
      `<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr>${textRun("Harbour rules")}</w:p>`,
      `<w:p>${textRun("Opens at ")}${textRun("7 &amp; closes")}<w:r><w:tab/></w:r>${textRun("late.")}<w:del><w:r><w:delText>Gone</w:delText></w:r></w:del></w:p>`,
      `<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/></w:numPr></w:pPr>${textRun("No diving")}</w:p>`,
      `<w:tbl><w:tr>${cell("Boat")}${cell("Fee")}</w:tr><w:tr>${cell("Dinghy")}${cell("5 €")}</w:tr></w:tbl>`,
      `<w:p>${textRun("Signed")}</w:p>`,
    ].join(""),
  );
  const notes = wordXml(`<w:footnote w:id="1"><w:p>${textRun("Except Sundays.")}</w:p></w:footnote>`);
  const file = docxFile({
    "word/document.xml": document,
    "word/footnotes.xml": notes,
    "word/media/image1.png": "x",
  });
  await chat.attach("rules.docx", docxType, file);
  await page.locator(".draft-attachment").filter({ hasText: "rules.docx" }).waitFor();
  await chat.askAndWait("What is the fee?");
  const text =
    "# Harbour rules\n\nOpens at 7 & closes\tlate.\n\n- No diving\n\nBoat\tFee\nDinghy\t5 €\nSigned\n\nExcept Sundays.";
  expect(proxy().requestsTo(chatPath).at(-1)?.body["messages"]).toEqual([
    { role: "user", content: `${fileText("rules.docx", text)}\n\nWhat is the fee?` },
  ]);
  expect(test.problems).toEqual([]);
});

it("reports why a file cannot be attached", async () => {
  await using test = await browser.open({ url: proxy().address });
  const { page, chat } = test;
  for (const [name, type, content, why] of [
    [
      "program.bin",
      "application/octet-stream",
      Buffer.from([0, 159, 146, 150]),
      "is not a text file, an image, a PDF or a Word document (.docx).",
    ],
    ["empty.txt", "text/plain", "", "is empty."],
    ["scan.pdf", "application/pdf", pdfFile({}), "contains no text, only scanned pages."],
    [
      "photo.png",
      "image/png",
      await encodePng(drawImage("disc", 8, 8)),
      "was not attached: the chosen model cannot read images. None on this machine can.",
    ],
    ["broken.pdf", "application/pdf", "%PDF-1.4 and nothing else", "is damaged or password-protected."],
    ["broken.docx", docxType, "PK and nothing else", "is damaged or password-protected."],
    ["other.docx", docxType, docxFile({ "word/styles.xml": "<x/>" }), "is damaged or password-protected."],
    ["blank.docx", docxType, docxFile({ "word/document.xml": wordXml("<w:p/>") }), "contains no text."],
    [
      "entities.docx",
      docxType,
      docxFile({ "word/document.xml": `<!DOCTYPE x [<!ENTITY a "a">]>${wordXml("<w:p/>")}` }),
      "is damaged or password-protected.",
    ],
    // Its size, as it states it, is more than what is unpacked of any file.
    [
      "large.docx",
      docxType,
      docxFile({ "word/document.xml": wordXml(" ".repeat(33 * 1024 * 1024)) }),
      "is damaged or password-protected.",
    ],
  ] as const) {
    await chat.attach(name, type, Buffer.from(content));
    await page.getByText(`${name} ${why}`).waitFor();
  }
  expect(await page.locator(".draft-attachment").count()).toBe(0);
  expect(test.problems).toEqual([]);
});

it("exports all chats, and imports them in another browser with branches, folders and files", async () => {
  await using test = await browser.open({ url: proxy().address });
  const { page, chat } = test;
  await chat.attach("notes.md", "text/markdown", "The harbour opens at seven.");
  const first = await chat.askAndWait("When does it open?");
  await chat.replies.first().getByRole("button", { name: "Try again", exact: true }).click();
  await page.getByRole("group", { name: "Version 2 of 2" }).waitFor();
  const second = await chat.wholeReply(0);
  const list = page.getByRole("complementary", { name: "Conversations" });
  await list.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "New folder" }).click();
  await list.getByRole("button", { name: "New folder, 0 conversations" }).waitFor();
  await list.getByRole("button", { name: "Actions for folder New folder" }).click();
  await page.getByRole("menuitem", { name: "Rename" }).click();
  await page.getByRole("textbox", { name: "Folder name" }).fill("Travel");
  await page.keyboard.press("Enter");
  await list.getByRole("button", { name: "Actions for When does it open?" }).click();
  await page.getByRole("menuitem", { name: "Move to Travel" }).click();
  await list.getByRole("button", { name: "Travel, 1 conversation" }).waitFor();

  const { name, text } = await savedBy(page, async () => {
    await list.getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("menuitem", { name: "Export all chats" }).click();
  });
  expect(name).toMatch(/^ingle-chats-\d{4}-\d\d-\d\d\.json$/);

  await using elsewhere = await browser.open({ url: proxy().address });
  await elsewhere.chat.importChats(text);
  await elsewhere.page.getByText("Imported 1 conversation.").waitFor();
  await elsewhere.page.getByRole("button", { name: "Travel, 1 conversation" }).waitFor();
  await elsewhere.page.getByRole("link", { name: "When does it open?" }).click();
  await elsewhere.page.getByText("notes.md").waitFor();
  await elsewhere.page.getByRole("group", { name: "Version 2 of 2" }).waitFor();
  expect(await elsewhere.chat.replyText(0)).toBe(second);
  await elsewhere.page.getByRole("button", { name: "Previous version" }).click();
  await elsewhere.page.getByRole("group", { name: "Version 1 of 2" }).waitFor();
  expect(await elsewhere.chat.replyText(0)).toBe(first);

  // A file that is not an export is rejected.
  await elsewhere.chat.importChats({ format: "other" });
  await elsewhere.page.getByText("This file contains no chats that Ingle can read.").waitFor();
  expect([...test.problems, ...elsewhere.problems]).toEqual([]);
});

it("saves a chat as Markdown, collapses its folder, and removes the folder without its chats", async () => {
  await using test = await browser.open({ url: proxy().address });
  const { page, chat } = test;
  await chat.askAndWait("A question with *stars*");
  const copy = chat.replies.first().getByRole("button", { name: "Copy", exact: true });
  let answer = "";
  // On a busy machine, a click may hit the place where the button has just been.
  await expect
    .poll(async () => {
      await copy.click();
      return (answer = await page.evaluate(() => navigator.clipboard.readText()));
    })
    .not.toBe("");
  const list = page.getByRole("complementary", { name: "Conversations" });
  const actions = list.getByRole("button", { name: "Actions for A question with stars" });
  const { name, text } = await savedBy(page, async () => {
    await actions.click();
    await page.getByRole("menuitem", { name: "Save as Markdown" }).click();
  });
  expect(name).toBe("A-question-with-stars.md");
  expect(text).toBe(
    `# A question with stars\n\n## You\n\nA question with *stars*\n\n## tiny\n\n${answer.trim()}\n`,
  );

  await list.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "New folder" }).click();
  await actions.click();
  await page.getByRole("menuitem", { name: "Move to New folder" }).click();
  const folder = list.getByRole("button", { name: "New folder, 1 conversation" });
  await folder.click();
  const link = list.getByRole("link", { name: "A question with stars" });
  await link.waitFor({ state: "detached" });
  await folder.click();
  await link.waitFor();
  await list.getByRole("button", { name: "Actions for folder New folder" }).click();
  await page.getByRole("menuitem", { name: "Remove folder" }).click();
  await folder.waitFor({ state: "detached" });
  await link.waitFor();
  expect(test.problems).toEqual([]);
});
