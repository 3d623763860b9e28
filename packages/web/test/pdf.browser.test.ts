// A PDF that is attached: its text is read, and nothing is said of fonts that only drawing needs.
import { tinyModel } from "@ingle/fixtures";
import { expect, it } from "vitest";

import { useBrowser } from "./browser.ts";
import { ChatHands } from "./chat-hands.ts";
import { Home, IngleProcess } from "./ingle-process.ts";

const browser = useBrowser();

/** One page with a line in each of these fonts, none of which is in the file. */
function pdf(lines: Record<string, string>): Buffer {
  const fonts = Object.keys(lines);
  const content = Object.values(lines)
    .map((line, at) => `BT /F${at} 12 Tf 72 ${700 - at * 20} Td (${line}) Tj ET`)
    .join("\n");
  const names = fonts.map((_font, at) => `/F${at} ${at + 5} 0 R`).join(" ");
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << ${names} >> >> >>`,
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    ...fonts.map((font) => `<< /Type /Font /Subtype /Type1 /BaseFont /${font} >>`),
  ];
  let text = "%PDF-1.4\n";
  const places = objects.map((object, at) => {
    const place = text.length;
    text += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(place).padStart(10, "0")} 00000 n \n`;
  });
  const count = objects.length + 1;
  const table = `xref\n0 ${count}\n0000000000 65535 f \n${places.join("")}`;
  return Buffer.from(
    `${text}${table}trailer\n<< /Size ${count} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`,
  );
}

it("reads its text", async () => {
  await using home = await Home.make({ "tiny.gguf": await tinyModel({ endAfter: 20 }) });
  await using ingle = await IngleProcess.start(["serve", "--port", "0", "--model", "tiny"], { home });
  await using opened = await browser.open({ url: ingle.address });
  const { page } = opened;
  const chat = new ChatHands(page);
  await chat.composer.waitFor();
  await page.locator('.composer input[type="file"]').setInputFiles({
    name: "letter.pdf",
    mimeType: "application/pdf",
    buffer: pdf({ Helvetica: "Dear reader", Symbol: "abc" }),
  });
  await page.getByText(/^\d+ tokens$/).waitFor();
  const request = page.waitForRequest(/\/v1\/chat\/completions$/);
  await chat.ask("What is it?");
  expect((await request).postData()).toContain("File letter.pdf:\\n```\\nDear reader");
  await chat.wholeReply(0);
  expect(opened.problems).toEqual([]);
});
