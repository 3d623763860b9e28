// What people do with the packages, as they install them: each test starts in an empty folder without a compiler, and nothing of the
// checkout is in reach. `pnpm test:packages` builds the engine of the package first.
import { readdirSync } from "node:fs";
import { cp, readFile } from "node:fs/promises";
import path from "node:path";
import { hostPlatform, packageName, platforms } from "@ingle/engine-native/platforms";
import { codeBlocks, freePort, tinyModel } from "@ingle/fixtures";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { EmptyFolder } from "./empty-folder.ts";
import { packEveryEngine } from "./packages.ts";
import { publishRelease, type PublishedRelease } from "./release-files.ts";

const checkout = path.join(import.meta.dirname, "..");
/** Enough for a tiny model's reply on a busy machine. */
const startMaxMs = 60_000;

let release: PublishedRelease;
let pages: string;
let user: EmptyFolder;
beforeAll(async () => {
  release = await publishRelease(packEveryEngine);
  const names = ["README.md", "docs/client.md", "docs/library.md"];
  pages = (await Promise.all(names.map((name) => readFile(path.join(checkout, name), "utf8")))).join("\n");
});
afterAll(async () => {
  await release[Symbol.asyncDispose]();
});
beforeEach(async () => {
  // What the README's first commands need, besides Node.
  user = await EmptyFolder.make(release.registry, ["curl", "sed"]);
  await user.addModel(await tinyModel());
});
afterEach(async () => {
  await user[Symbol.asyncDispose]();
});

/** The only block of the README and of the pages about client and library that contains this. */
function snippet(language: string, text: string): string {
  const found = codeBlocks(pages).filter((block) => block.language === language && block.code.includes(text));
  expect(found).toHaveLength(1);
  return found[0]?.code ?? "";
}

/** Their program of this name. */
const program = (name: string): string => snippet("js", `// ${name};`);

/** Starts the server that the folder's `ingle` is, and runs `use` with its address. Ctrl-C must end it. */
async function withServer(ingle: string, use: (url: string) => Promise<void>): Promise<void> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const server = user.start(ingle, "serve", "--port", new URL(url).port, "--ctx", "512");
  try {
    await server.written("Ctrl-C", startMaxMs);
    await use(url);
    expect(await server.stop("SIGINT", startMaxMs)).toBe(0);
  } finally {
    server.child.kill("SIGKILL");
  }
}

describe("the library", () => {
  const npx = ["npx", "--yes"];
  const managers = [
    // Fails, too, if a dependency asks for a newer Node than we do.
    { name: "npm", add: ["npm", "install", "--engine-strict"], node: ["node"] },
    { name: "npm --ignore-scripts", add: ["npm", "install", "--ignore-scripts"], node: ["node"] },
    { name: "pnpm", add: [...npx, "pnpm@12", "add"], node: ["node"] },
    { name: "yarn 1", add: [...npx, "yarn@1", "add"], node: ["node"] },
    {
      // Without node_modules, as it installs by default.
      name: "yarn 4",
      add: [...npx, "@yarnpkg/cli-dist@4", "add"],
      node: [...npx, "@yarnpkg/cli-dist@4", "node"],
    },
    { name: "bun", add: [...npx, "bun@1", "add"], node: ["node"] },
  ];

  it.each(managers)("replies after it is installed with $name", async ({ add, node }) => {
    await user.write("package.json", "{}");
    await user.write("ask-in-process.mjs", program("ask-in-process.mjs"));
    const [tool = "", ...args] = add;
    await user.run(tool, ...args, "@ingle/engine");
    const [runtime = "", ...flags] = node;
    expect((await user.run(runtime, ...flags, "ask-in-process.mjs")).trim()).not.toBe("");
  });

  it.each(["22", "24", "26"])("replies in Node %s and ends well", async (version) => {
    await user.run("npm", "install", "@ingle/engine");
    await user.write("ask-in-process.mjs", program("ask-in-process.mjs"));
    const reply = await user.run("npx", "--yes", `node@${version}`, "ask-in-process.mjs");
    expect(reply.trim()).not.toBe("");
  });

  it("comes with the engine of this platform alone", async () => {
    await user.run("npm", "install", "@ingle/engine");
    const own = path.basename(packageName(hostPlatform()));
    const engines = new Set(platforms.map((platform) => path.basename(packageName(platform))));
    const installed = readdirSync(path.join(user.path, "node_modules", "@ingle"));
    expect(installed.filter((name) => engines.has(name))).toEqual([own]);
  });

  it("runs in worker threads, and a terminated one ends alone", async () => {
    await user.run("npm", "install", "@ingle/engine");
    await user.write("ask-in-process.mjs", program("ask-in-process.mjs"));
    await user.write(
      "endless.mjs",
      `import { getModel, load, streamGenerate } from "@ingle/engine";
       import { parentPort } from "node:worker_threads";
       const { model, tokenizer } = await load(await getModel(), { contextOverflow: "shift" });
       for await (const piece of streamGenerate(model, tokenizer, { prompt: "a" })) parentPort.postMessage(piece);`,
    );
    await user.write(
      "main.mjs",
      `import { once } from "node:events";
       import { Worker } from "node:worker_threads";
       const endless = new Worker(new URL("endless.mjs", import.meta.url));
       await once(endless, "message");
       const asking = new Worker(new URL("ask-in-process.mjs", import.meta.url));
       await endless.terminate();
       const [code] = await once(asking, "exit");
       console.log("\\nexit", code);`,
    );
    expect(await user.run("node", "main.mjs")).toMatch(/\S[^]*\nexit 0\n$/);
  });
});

describe("ingle", () => {
  it("answers through npx", async () => {
    const reply = await user.run("npx", "--yes", "ingle", "run", "What is the capital of France?");
    expect(reply.trim()).not.toBe("");
  });

  // Yarn 1 refuses a package whose dependencies ask for a newer Node.
  it("is a command after yarn 1 add", async () => {
    await user.write("package.json", "{}");
    await user.run("npx", "--yes", "yarn@1", "add", "ingle");
    const reply = await user.run(
      user.program("ingle"),
      "run",
      "--max-tokens",
      "8",
      "What is the capital of France?",
    );
    expect(reply.trim()).not.toBe("");
  });

  it("is a command and a server after npm install --global", async () => {
    const prefix = path.join(user.path, "global");
    await user.run("npm", "install", "--global", "--prefix", prefix, "ingle");
    const ingle = path.join(prefix, "bin", "ingle");
    const reply = await user.run(ingle, "run", "--max-tokens", "8", "What is the capital of France?");
    expect(reply.trim()).not.toBe("");
    await withServer(ingle, async (url) => {
      const body = { model: "tiny", max_tokens: 8, messages: [{ role: "user", content: "Hi" }] };
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
      expect(await response.json()).toMatchObject({ choices: [{ message: { role: "assistant" } }] });
      // The app's page is in a package of its own.
      expect(await (await fetch(url)).text()).toContain("<html");
    });
  });
});

describe("the README", () => {
  it("has code that runs", async () => {
    await user.run("npm", "install", "ingle", "@ingle/engine", "@ingle/client", "openai@6");
    await withServer(user.program("ingle"), async (url) => {
      const withAddress = (code: string): string => code.replaceAll("http://127.0.0.1:1337", url);
      const response: unknown = JSON.parse(
        await user.run("sh", "-c", withAddress(snippet("sh", "/v1/chat/completions"))),
      );
      expect(response).toMatchObject({ model: "tiny", choices: [{ message: { role: "assistant" } }] });
      for (const name of ["ask-openai.mjs", "ask-client.mjs", "ask-in-process.mjs"]) {
        await user.write(name, withAddress(program(name)));
        expect((await user.run("node", name)).trim(), name).not.toBe("");
      }
    });
  });
});

describe("a TypeScript project", () => {
  const strict = {
    target: "ES2023",
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    // Our own types are checked, too.
    skipLibCheck: false,
  };
  const inNode = { ...strict, noUncheckedIndexedAccess: true, lib: ["ES2023"], types: ["node"] };

  /** What the compiler prints. */
  async function compile(compilerOptions: object, files: readonly string[]): Promise<string> {
    await user.write("tsconfig.json", JSON.stringify({ compilerOptions, files }));
    return await user.run(user.program("tsc"), "--project", "tsconfig.json");
  }

  it("compiles the examples and every package, in Node and for a bundler", async () => {
    const packages = [
      "ai-provider",
      "client",
      "engine",
      "generation-options",
      "gguf",
      "mcp",
      "mlx",
      "protocol",
      "server",
    ].map((name) => `@ingle/${name}`);
    await user.write("package.json", `{ "type": "module" }`);
    await user.run("npm", "install", ...packages, "openai@6", "zod@4", "typescript@7", "@types/node@20");
    await cp(path.join(checkout, "examples"), path.join(user.path, "examples"), {
      recursive: true,
      filter: (file) => !file.includes("node_modules"),
    });
    await user.write(
      "all.ts",
      packages.map((name, index) => `export * as p${index} from "${name}";\n`).join(""),
    );
    const examples = readdirSync(path.join(user.path, "examples")).filter((name) => name.endsWith(".ts"));
    const files = ["all.ts", ...examples.map((name) => `examples/${name}`)];
    expect(await compile({ ...inNode, module: "NodeNext" }, files)).toBe("");
    expect(await compile({ ...inNode, module: "ESNext", moduleResolution: "bundler" }, files)).toBe("");
  });

  it("compiles a page with the client, without the types of Node", async () => {
    await user.run("npm", "install", "@ingle/client", "typescript@7");
    await user.write(
      "page.mts",
      program("ask-client.mjs").replaceAll("process.stdout.write", "document.write"),
    );
    const lib = ["ES2023", "DOM", "DOM.Iterable"];
    expect(
      await compile({ ...strict, lib, types: [], module: "ESNext", moduleResolution: "bundler" }, [
        "page.mts",
      ]),
    ).toBe("");
  });
});

describe("a page", () => {
  it("is bundled by Vite with the client, and needs nothing of Node", async () => {
    await user.run("npm", "install", "@ingle/client", "vite@8");
    await user.write("index.html", `<script type="module" src="/main.js"></script>`);
    await user.write(
      "main.js",
      program("ask-client.mjs").replaceAll("process.stdout.write", "document.write"),
    );
    const printed = await user.run(user.program("vite"), "build");
    expect(printed).not.toContain("externalized");
    const assets = path.join(user.path, "dist", "assets");
    const [bundle = "", ...others] = readdirSync(assets);
    expect(others).toEqual([]);
    const code = await readFile(path.join(assets, bundle), "utf8");
    expect(code).toContain("/v1/chat/completions");
    expect(code).not.toMatch(/["']node:|\brequire\(|__vite-browser-external/);
  });
});

describe("an Electron app", () => {
  it("has everything that is loaded as a library outside of its archive", async () => {
    await user.run("npm", "install", "@ingle/engine");
    const page = await readFile(path.join(checkout, "packages", "engine", "README.md"), "utf8");
    const recipe = codeBlocks(page).find(({ language }) => language === "json")?.code ?? "";
    const { build }: { build: { asarUnpack: string[] } } = JSON.parse(recipe);
    const archive = path.join(user.path, "..", "app.asar");
    const asar = ["--yes", "@electron/asar@3"];
    await user.run("npx", ...asar, "pack", ".", archive, "--unpack", `{${build.asarUnpack.join(",")}}`);

    const entries = (await user.run("npx", ...asar, "list", "--is-pack", archive)).trim().split("\n");
    const libraries = entries.filter((entry) => /\.(node|dll|dylib|so)(\.[\d.]+)?$/.test(entry));
    expect(libraries).toContainEqual(expect.stringContaining("ingle.node"));
    expect(libraries.filter((entry) => !entry.startsWith("unpack"))).toEqual([]);

    const unpacked = path.join(`${archive}.unpacked`, "node_modules", "@ingle", "engine-native", "index.js");
    const script = `import(${JSON.stringify(unpacked)}).then(({ buildInfo }) => console.log(JSON.stringify(buildInfo())))`;
    expect(JSON.parse(await user.run("node", "--eval", script))).toMatchObject({
      devices: [{ name: "CPU" }],
    });
  });
});
