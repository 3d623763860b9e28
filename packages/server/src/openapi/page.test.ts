import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { fetchDocument } from "../../test/documented.ts";
import type { ServerFlags } from "../config.ts";
import { scriptedApp, scriptedId } from "../../test/harness/scripted-server.ts";
import { openApiDocument } from "./document.ts";
import { docsPage, pagePolicy } from "./page.ts";

async function renderPage(flags: ServerFlags = {}) {
  await using scripted = await scriptedApp({ flags });
  const { body } = await scripted.app.inject("/docs");
  return { html: body, document: await fetchDocument(scripted.app) };
}

function elapsed(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

const toText = (html: string): string => html.replaceAll("&quot;", '"').replaceAll("&#39;", "'");

describe("the docs page", () => {
  it("shows every operation, every named type and all their fields", async () => {
    const { html, document } = await renderPage();
    for (const path of Object.keys(document.paths)) expect(html).toContain(` ${path}</h2>`);
    const codes = new Set([...html.matchAll(/<code>([^<]*)<\/code>/g)].map(([, code = ""]) => code));
    const shown = new Set([...codes].map((code) => code.split(".").at(-1)?.replaceAll("[]", "")));
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      const fields = Object.keys(schema.properties ?? {});
      expect(
        fields.filter((field) => !shown.has(field)),
        name,
      ).toEqual([]);
    }
    expect([...codes]).toContain("choices[].message.content");
  });

  it("has a target for each of its links", async () => {
    const { html } = await renderPage();
    const targets = [...html.matchAll(/href="#([^"]*)"/g)].map(([, target = ""]) => target);
    expect(targets.length).toBeGreaterThan(10);
    expect(targets.filter((target) => !html.includes(` id="${target}"`))).toEqual([]);
  });

  it("describes types, bounds and defaults in words, and null only in responses", async () => {
    const { html } = await renderPage();
    const findRow = (field: string): string =>
      new RegExp(`<td><code>${field}</code></td>[^]*?</tr>`).exec(html)?.[0] ?? "";
    expect(findRow("top_p")).toContain("<td>number (0 to 1)</td>");
    expect(findRow("top_p")).toContain("<td><code>1</code></td>");
    expect(findRow("messages")).toContain("<td>required</td>");
    expect(findRow("stop")).toContain(
      "string (at most 1,024 characters) or array (at most 128 entries) of string (",
    );
    expect(findRow("license")).toContain("<td>string or null</td>");
  });

  it("has shell commands with this server's address and model", async () => {
    const { html } = await renderPage();
    expect(toText(html)).toContain(
      'curl http://localhost:80/v1/chat/completions \\\n  -H "Content-Type: application/json" \\\n' +
        `  -d '{"model":"${scriptedId}","messages":`,
    );
    expect(html).not.toContain("INGLE_API_KEY");
    expect(html).toContain(`curl http://localhost:80/v1/models/${scriptedId}<`);
  });

  it("uses a key in the commands that need one, if keys are configured", async () => {
    const { html } = await renderPage({ apiKey: ["secret-key"] });
    expect(html).toContain("curl http://localhost:80/health</code>");
    expect(toText(html)).toContain('/v1/models \\\n  -H "Authorization: Bearer $INGLE_API_KEY"');
    expect(html).not.toContain("secret-key");
  });

  it("loads and runs nothing, and its policy allows only its own style", async () => {
    const { html } = await renderPage();
    expect(html).not.toMatch(/<script|<link|<img|\ssrc=|\sstyle=|\son\w+=|@import|url\(/);
    expect(html).not.toMatch(/href="(?!#|openapi\.json")/);
    const [, style = ""] = /<style>([^]*?)<\/style>/.exec(html) ?? [];
    const hash = createHash("sha256").update(style).digest("base64");
    expect(pagePolicy).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
  });

  it("escapes values", () => {
    const evil = `<script>alert("x" & 'y')</script>`;
    const body = z.object({ [evil]: z.literal(evil) }).meta({ description: evil });
    const operation = { summary: evil, responses: { 200: z.object({}) }, example: { [evil]: evil } };
    const route = { method: "POST", path: "/v1/things", body, right: "inference" as const, operation };
    const document = openApiDocument([route], { hasKeys: false, isRateLimited: false });
    const page = docsPage(document, { address: evil, model: evil });
    expect(page).not.toContain("<script");
    expect(page).toContain("&lt;script&gt;alert(&quot;x&quot; &amp; &#39;y&#39;)");
  });

  it("is generated faster than its letters are replaced one by one", async () => {
    const { document } = await renderPage();
    const place = { address: "http://127.0.0.1:1337", model: "a" };
    const html = docsPage(document, place);
    // Work of the same size, in turn, because machines differ and others work beside this one.
    const rounds = Array.from({ length: 20 }, () => ({
      generating: elapsed(() => docsPage(document, place)),
      replacing: elapsed(() => html.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase())),
    }));
    const fastest = Math.min(...rounds.map(({ generating }) => generating));
    expect(fastest).toBeLessThan(Math.min(...rounds.map(({ replacing }) => replacing)));
  });
});
