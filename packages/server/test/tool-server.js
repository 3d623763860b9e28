// An MCP server for tests of the app, over pipes. It appends what happens to it to the file that its argument names.
import { appendFileSync } from "node:fs";
import { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const [, , file] = process.argv;
const note = (line) => appendFileSync(file, `${line}\n`);
const text = (written) => ({ content: [{ type: "text", text: written }] });

/** A white square of eight pixels a side. */
const picture =
  "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAD0lEQVR4nGP4jwMwDC0JALoev0Ewkwr8AAAAAElFTkSuQmCC";

const tools = {
  add: {
    description: "Adds two numbers",
    inputSchema: {
      type: "object",
      properties: { a: { type: "integer" }, b: { type: "integer" } },
      required: ["a", "b"],
    },
    run: ({ a, b }) => text(`The sum is ${a + b}.`),
  },
  picture: {
    run: () => ({
      content: [
        { type: "text", text: "Here:" },
        { type: "image", data: picture, mimeType: "image/png" },
      ],
    }),
  },
  wait: {
    run: async (_args, signal) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      note("cancelled");
      return text("never seen");
    },
  },
  fail: { run: () => ({ ...text("there is no such city"), isError: true }) },
  crash: {
    run: () => {
      process.stderr.write("Error: out of luck\n");
      process.exit(3);
    },
  },
};

note(`started ${process.pid}`);
serveStdio(() => {
  const server = new Server({ name: "tools", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", async () => ({
    tools: Object.entries(tools).map(([name, { run: _run, ...described }]) => ({
      name,
      inputSchema: { type: "object", properties: {} },
      ...described,
    })),
  }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    note(`called ${params.name} ${JSON.stringify(params.arguments ?? {})}`);
    return tools[params.name].run(params.arguments ?? {}, mcpReq.signal);
  });
  return server;
});
