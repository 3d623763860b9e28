// The pages for people name everything that the server has: a route, flag, variable or metric that is added here must be
// written there, and what is written there must exist.
import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { expect, it } from "vitest";
import { testWorld } from "../test/cli-context.ts";
import { fetchDocument } from "../test/documented.ts";
import { ingleProgram } from "./cli/program.ts";
import { KnownBrowsers } from "./access/known-browsers.ts";
import { ChatStore } from "./chats/chat-store.ts";
import { McpControl } from "./mcp/mcp-control.ts";
import { appSettings } from "./settings/server-settings.ts";
import { settingsIn } from "./settings/setting.ts";
import { settings } from "./settings/settings.ts";
import { scriptedControl } from "../test/harness/scripted-control.ts";
import { scriptedApp } from "../test/harness/scripted-server.ts";

const page = (name: string): Promise<string> =>
  readFile(new URL(`../../../docs/${name}`, import.meta.url), "utf8");

/** Everything between backticks. */
const listCode = (text: string): Set<string> =>
  new Set([...text.matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code));

/** `GET /v1/models/{id}` and so on, from Fastify's tree: each line holds what its path adds to the one above it. */
function listRoutes(tree: string): string[] {
  const parents: string[] = [];
  return tree.split("\n").flatMap((line) => {
    const [, indent = "", part = "", methods = ""] = /^(.*)── (\S*)(?: \(([A-Z, ]+)\))?$/.exec(line) ?? [];
    const depth = indent.length;
    const path = parents.slice(0, depth).findLast((parent) => parent !== undefined) ?? "";
    parents.length = depth;
    parents[depth] = path + part;
    return methods
      .split(", ")
      .filter((method) => ["GET", "POST", "PUT", "DELETE"].includes(method))
      .map((method) => `${method} ${parents[depth]?.replace("*", "{id}").replaceAll(/:(\w+)/g, "{$1}")}`);
  });
}

/** The names of a schema's fields, and of those of the schemas inside it. */
function listFields(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([keyword, part]) => [
    ...(keyword === "properties" ? Object.keys(part) : []),
    ...(keyword === "default" ? [] : listFields(part)),
  ]);
}

/** A command, its commands, and theirs. */
function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

/** The app's control address, which has all routes of `ingle serve` and some of its own. */
async function controlApp() {
  const control = await scriptedControl();
  const mcp = new McpControl({ file: undefined, env: {} });
  const browsers = await KnownBrowsers.open(`${control.folder}/browsers.json`);
  const chats = await ChatStore.open(`${control.folder}/chats.db`);
  const server = await scriptedApp({
    app: { token: "t".repeat(43), server: control.server, mcp, chats, browsers },
  });
  server.app.addHook("onClose", async () => {
    chats[Symbol.dispose]();
    await Promise.all([mcp[Symbol.asyncDispose](), control[Symbol.asyncDispose]()]);
  });
  return server;
}

it("docs/http-api.md and /openapi.json name every route, and no other one", async () => {
  await using server = await controlApp();
  const routes = listRoutes(server.app.printRoutes());
  expect(routes).toContain("GET /v1/models/{id}");
  const codes = listCode(await page("http-api.md"));
  const written = [...codes].filter((code) => /^(GET|POST|PUT|DELETE) \//.test(code));
  expect(new Set(written)).toEqual(new Set(routes));
  const { paths } = await fetchDocument(server.app);
  const documented = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(new Set(documented)).toEqual(new Set(routes));
});

it("docs/http-api.md has a row or a sentence for every field of every request", async () => {
  await using server = await controlApp();
  const { paths, components } = await fetchDocument(server.app);
  const codes = listCode(await page("http-api.md"));
  for (const [path, methods] of Object.entries(paths)) {
    for (const { requestBody } of Object.values(methods)) {
      const [content] = Object.values(requestBody?.content ?? {}); // JSON, or a form
      const name = content?.schema.$ref?.split("/").at(-1) ?? "";
      const { properties = {}, oneOf = [] } = components.schemas[name] ?? {};
      const fields = [properties, ...oneOf.map((form) => form.properties ?? {})].flatMap(Object.keys);
      if (requestBody !== undefined) expect(fields, path).not.toEqual([]);
      expect(
        fields.filter((field) => !codes.has(field)),
        path,
      ).toEqual([]);
    }
  }
});

it("docs/http-api.md and docs/errors.md name every field inside requests and answers", async () => {
  await using server = await controlApp();
  const text = (await page("http-api.md")) + (await page("errors.md"));
  const examples = [...text.matchAll(/```[^]*?```/g)].map(([block]) => block);
  const words = new Set([...listCode(text), ...examples].flatMap((code) => code.match(/\w+/g) ?? []));
  const { components } = await fetchDocument(server.app);
  for (const [name, schema] of Object.entries(components.schemas))
    expect(
      listFields(schema).filter((field) => !words.has(field)),
      name,
    ).toEqual([]);
});

it.each([
  {
    name: "ollama.md",
    flags: { ollamaApi: true },
    isOwn: /^Ollama(?:\w+Request|Message|Options)$/,
    requests: 7,
    shared: ["role"],
  },
  {
    name: "llama-server.md",
    flags: { llamaServerApi: true },
    isOwn: /^LlamaServer\w+Request$/,
    requests: 4,
    shared: [],
  },
  {
    name: "lm-studio.md",
    flags: { lmStudioApi: true },
    isOwn: /^LmStudio\w+(?:Request|Item)$/,
    requests: 6,
    shared: [],
  },
])("docs/$name names every route of the API, and every field of its requests", async (api) => {
  await using without = await scriptedApp();
  await using server = await scriptedApp({ flags: api.flags });
  const others = new Set(listRoutes(without.app.printRoutes()));
  const routes = listRoutes(server.app.printRoutes()).filter((route) => !others.has(route));
  const codes = listCode(await page(api.name));
  // A page may also name routes that are there without the API.
  const written = [...codes].filter((code) => /^(GET|POST|PUT|DELETE) \//.test(code) && !others.has(code));
  expect(new Set(written)).toEqual(new Set(routes.map((route) => route.replace("*", "{id}"))));
  const { components } = await fetchDocument(server.app);
  const requests = Object.entries(components.schemas).filter(([name]) => api.isOwn.test(name));
  expect(requests.length).toBeGreaterThan(api.requests);
  const known = new Set([...codes, ...api.shared]);
  const { components: usual } = await fetchDocument(without.app);
  for (const [name, { properties = {} }] of requests) {
    // docs/http-api.md has the fields of the request that this one extends.
    const extended = usual.schemas[name.replace("LmStudio", "")]?.properties ?? {};
    expect(
      Object.keys(properties).filter((field) => !known.has(field) && !Object.hasOwn(extended, field)),
      name,
    ).toEqual([]);
  }
});

it("docs/cli.md names every flag of every command, and no other one", async () => {
  const { context } = testWorld();
  const program = ingleProgram(context, () => {});
  const flags = withSubcommands(program).flatMap((command) => command.options.map(({ long }) => long ?? ""));
  const written = [...(await page("cli.md")).matchAll(/--[a-z][a-z-]+/g)].map(([flag]) => flag);
  const known = new Set([...flags, "--help"]);
  expect([...known].filter((flag) => !written.includes(flag))).toEqual([]);
  expect(written.filter((flag) => !known.has(flag))).toEqual([]);
});

it("docs/cli.md names every environment variable of the server's and the app's settings", async () => {
  const codes = listCode(await page("cli.md"));
  const names = settingsIn({ settings, appSettings }).flatMap(({ variables = [] }) => variables);
  expect(names.filter((name) => !codes.has(name))).toEqual([]);
});

it("docs/http-api.md names every metric, and no other one", async () => {
  await using server = await scriptedApp({ flags: { metricsCompat: "vllm" } });
  const { body } = await server.app.inject({ url: "/metrics" });
  const metrics = [...body.matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name);
  const codes = [...listCode(await page("http-api.md"))];
  const written = codes.filter((code) => /^(ingle_|process_|nodejs_|vllm:)[a-z_]+$/.test(code));
  expect(new Set(written)).toEqual(new Set([...metrics, "process_open_fds"])); // which only Linux has
});

it("docs/operations.md names every field of a request's log line", async () => {
  const source = await readFile(new URL("./http/request-outcome.ts", import.meta.url), "utf8");
  const outcome = /interface RequestOutcome \{([^}]+)\}/.exec(source)?.[1] ?? "";
  const fields = [...outcome.matchAll(/^ {2}(?:readonly )?(\w+)\??:/gm)].map(([, name = ""]) => name);
  expect(fields).toContain("ttftMs");
  const unlogged = new Set(["startedAt", "generation", "error"]);
  const codes = listCode(await page("operations.md"));
  expect(fields.filter((field) => !unlogged.has(field) && !codes.has(field))).toEqual([]);
});
