// An MCP server for tests, with tools that behave well and badly. odd-server.js serves it over pipes, tests over HTTP.
import { appendFileSync } from "node:fs";
import { Server } from "@modelcontextprotocol/server";

const text = (written) => ({ content: [{ type: "text", text: written }] });

/** A white square of eight pixels a side. */
const picture =
  "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAD0lEQVR4nGP4jwMwDC0JALoev0Ewkwr8AAAAAElFTkSuQmCC";

const anything = { type: "object" };

const tools = {
  add: {
    description: "Adds two numbers",
    inputSchema: {
      type: "object",
      properties: { a: { type: "integer" }, b: { type: "integer" } },
      required: ["a", "b"],
      additionalProperties: false,
    },
    run: ({ a, b }) => text(String(a + b)),
  },
  ping: { inputSchema: { type: "object", properties: {} }, run: () => text("pong") },
  long: { inputSchema: anything, run: ({ characters }) => text("x".repeat(characters)) },
  fail: { inputSchema: anything, run: () => ({ ...text("there is no such city"), isError: true }) },
  structured: { inputSchema: anything, run: () => ({ content: [], structuredContent: { degrees: 21 } }) },
  pictures: {
    inputSchema: anything,
    run: ({ count = 1, data = picture }) => ({
      content: [
        { type: "text", text: "Here:" },
        ...Array.from({ length: count }, () => ({ type: "image", data, mimeType: "image/png" })),
      ],
    }),
  },
  others: {
    inputSchema: anything,
    run: () => ({
      content: [
        { type: "audio", data: "AAAA", mimeType: "audio/wav" },
        { type: "resource_link", uri: "file:///notes.md", name: "notes" },
        { type: "resource", resource: { uri: "file:///a.txt", text: "the text of a file" } },
        { type: "resource", resource: { uri: "file:///a.bin", blob: "AAAA" } },
      ],
    }),
  },
  /** Writes what became of the call into a file. */
  wait: {
    inputSchema: anything,
    run: async ({ file }, { signal }) => {
      appendFileSync(file, "called\n");
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      appendFileSync(file, "cancelled\n");
      return text("never seen");
    },
  },
  variables: { inputSchema: anything, run: () => text(Object.keys(process.env).join(" ")) },
  crash: {
    inputSchema: anything,
    run: () => {
      process.stderr.write("Error: out of luck\n");
      process.exit(3);
    },
  },
  "with spaces!": { inputSchema: anything, run: () => text("spaces") },
  misdescribed: {
    inputSchema: { type: "object", properties: { place: { type: "town" } } },
    run: () => text("never called"),
  },
};

/** `names` are the tools that it has. Default: all. */
export function oddServer(names = Object.keys(tools)) {
  const server = new Server({ name: "odd", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", async () => ({
    tools: names.map((name) => {
      const { run: _run, ...described } = tools[name];
      return { name, ...described };
    }),
  }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) =>
    tools[params.name].run(params.arguments ?? {}, { signal: mcpReq.signal }),
  );
  return server;
}
