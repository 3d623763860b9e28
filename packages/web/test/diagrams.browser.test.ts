// Mermaid diagrams, drawn under the page's Content-Security-Policy.
import type { Page } from "playwright-core";
import { expect, it } from "vitest";

import { seriousViolations } from "./accessible.ts";
import { IngleProcess, serve } from "./ingle-process.ts";
import { useBrowser } from "./setup.ts";

const browser = useBrowser();

/** One of each kind that sets its styles in a different way. */
const sources = [
  'flowchart LR\n  accTitle: How it is decided\n  A["Begin #9829; & go"] -->|yes| B{Is it?}\n  B -->|<b style="color:red">no</b>| C[(Kept)]\n' +
    "  classDef hot fill:#f00,stroke:#333\n  class C hot\n  style A stroke-width:4px\n  linkStyle 0 stroke:#f66",
  "sequenceDiagram\n  Alice->>Bob: Hello\n  Note right of Bob: thinks & waits\n  loop each day\n  Bob-->>Alice: Hi\n  end",
  "classDiagram\n  Animal <|-- Duck\n  Animal : +int age\n  Animal: +isMammal()",
  "stateDiagram-v2\n  [*] --> Still\n  Still --> Moving\n  Moving --> [*]",
  "erDiagram\n  CUSTOMER ||--o{ ORDER : places\n  CUSTOMER { string name }",
  "gantt\n  title A plan\n  dateFormat YYYY-MM-DD\n  section S\n  One :a1, 2026-01-01, 30d\n  Two :after a1, 20d",
  'pie title Pets\n  "Dogs" : 386\n  "Cats" : 85',
  "gitGraph\n  commit\n  branch develop\n  commit\n  checkout main\n  merge develop",
  "mindmap\n  root((Root))\n    One\n      Two\n    Three",
  'xychart-beta\n  title "Sales"\n  x-axis [jan, feb]\n  y-axis "Revenue" 0 --> 100\n  bar [50, 60]',
  "architecture-beta\n  group api(cloud)[API]\n  service db(database)[Database] in api\n  service disk(disk)[Storage] in api\n  db:L -- R:disk",
];

/** A server whose model replies with these diagrams, one line at a time. */
async function serveDiagrams(blocks: readonly string[]): Promise<IngleProcess> {
  const text = blocks.map((source) => `\`\`\`mermaid\n${source}\n\`\`\`\n\n`).join("");
  const pieces = `${text}That is all.`.split(/(?<=\n)/);
  return IngleProcess.start(serve, { script: { pieces, contextLength: 65_536 } });
}

/** Waits until all images are decoded, and returns their URLs. */
async function drawnImages(page: Page, count: number): Promise<string[]> {
  const images = page.locator(".diagram img");
  await expect.poll(() => images.count(), { timeout: 25_000 }).toBe(count);
  return images.evaluateAll(async (all) => {
    const drawn = all.filter((image) => image instanceof HTMLImageElement);
    // Rejects for an invalid image, such as an SVG that is not XML.
    await Promise.all(drawn.map((image) => image.decode()));
    return drawn.map(({ src }) => src);
  });
}

it("draws each kind in the colours of the theme, without violating the page's policy", async () => {
  await using ingle = await serveDiagrams(sources);
  await using opened = await browser.open({ url: ingle.address });
  const { page, chat } = opened;
  await chat.askAndWait("Draw");
  const light = await drawnImages(page, sources.length);
  const words = [...decodeURIComponent(light[0] ?? "").matchAll(/>([^<>]+)<\/tspan>/g)].map(
    ([, word]) => word,
  );
  expect(words.join("")).toContain("Begin ♥ &amp; go");
  await page.getByRole("img", { name: "How it is decided" }).waitFor();

  await page.emulateMedia({ colorScheme: "dark" });
  await expect
    .poll(async () => (await drawnImages(page, sources.length))[10], { timeout: 25_000 })
    .not.toBe(light[10]);

  expect(await seriousViolations(page)).toEqual([]);

  const first = page.locator(".diagram").first();
  await first.getByRole("button", { name: "Show the source" }).click();
  await first.getByText("classDef hot").waitFor();
  expect(opened.problems).toEqual([]);
}, 60_000);

it("shows the source of an invalid one, and the reason", async () => {
  await using ingle = await serveDiagrams(["flowchart LR\n  A --> --> B", "flowchart LR\n  A --> B"]);
  await using opened = await browser.open({ url: ingle.address });
  const { page, chat } = opened;
  await chat.askAndWait("Draw");
  await page.getByText(/^Mermaid cannot draw this: Parse error on line 2/).waitFor();
  await page.locator(".code-block").getByText("A --> --> B").waitFor();
  await drawnImages(page, 1);
  expect(opened.problems).toEqual([]);
});

it("loads Mermaid with the first diagram, not before", async () => {
  await using ingle = await serveDiagrams(["flowchart LR\n  A --> B"]);
  await using opened = await browser.open();
  const { page, chat } = opened;
  const requested: string[] = [];
  page.on("request", (request) => requested.push(request.url()));
  await page.goto(ingle.address);
  await chat.composer.waitFor();
  const isMermaid = (url: string) => /assets\/mermaid-[\w-]+\.js$/.test(url);
  expect(requested.filter(isMermaid)).toEqual([]);
  await chat.askAndWait("Draw");
  await drawnImages(page, 1);
  expect(requested.filter(isMermaid)).toHaveLength(1);
  expect(opened.problems).toEqual([]);
});
