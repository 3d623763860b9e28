// `ingle deploy modal` as a child process, with a program called `modal` that prints what Modal's prints, and a real server with a
// tiny model in place of the container.
import { execFile } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { tinyModel } from "@ingle/fixtures";
import { afterEach, beforeEach, expect, it } from "vitest";

const program = fileURLToPath(new URL("../bin/ingle.js", import.meta.url));
const key = "a-key-of-enough-characters";
let bin: string;

beforeEach(async () => {
  bin = await mkdtemp(path.join(tmpdir(), "ingle-deployed-"));
});

afterEach(async () => {
  const pid = Number(await readFile(path.join(bin, "pid"), "utf8").catch(() => "0"));
  if (pid > 0) process.kill(pid, "SIGKILL");
  await rm(bin, { recursive: true });
});

/** Finds a free port, starts a server on it as Modal starts a container, and exits before the server listens. */
const modal = `#!${process.execPath}
const { spawn } = require("node:child_process");
const { writeFileSync } = require("node:fs");
const probe = require("node:net").createServer().listen(0, "127.0.0.1", () => {
  const { port } = probe.address();
  probe.close(() => {
    const flags = ["--variant", "serverless", "--host", "127.0.0.1", "--port", port, "--offline", "--threads", "1"];
    const server = spawn(process.execPath, [${JSON.stringify(program)}, "serve", ...flags], { detached: true, stdio: "ignore" });
    server.unref();
    writeFileSync(require("node:path").join(__dirname, "pid"), String(server.pid));
    console.log("✓ Created objects.\\n├── 🔨 Created function Server.");
    console.log("└── 🔨 Created flash service endpoint for Server => http://127.0.0.1:" + port);
    console.log("✓ App deployed in 4.210s! 🎉\\n\\nView Deployment: https://modal.example/apps/main/deployed/ingle");
  });
});
`;

// The program is a script with a #! line, which Windows does not run.
it.runIf(process.platform !== "win32")(
  "waits until a model that is loading responds, and prints the deployed model's id",
  async () => {
    const file = path.join(bin, "modal");
    await writeFile(file, modal);
    await chmod(file, 0o755);
    const { INGLE_API_KEYS: _, ...env } = process.env;
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [program, "deploy", "modal", "--model", await tinyModel(), "--api-key", key],
      {
        env: { ...env, PATH: bin, MODAL_KEY: "wk-1", MODAL_SECRET: "ws-1", INGLE_HOME: bin },
        timeout: 25_000,
      },
    );
    const [, address = ""] = /address +(\S+)/.exec(stdout) ?? [];
    const response = await fetch(`${address}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    const { data } = (await response.json()) as { data: { id: string; status: string }[] };
    expect(data).toMatchObject([{ id: /model +(\S+)/.exec(stdout)?.[1], status: "loaded" }]);
    expect(stdout).toMatch(/cold start +\d.*until it was ready\n/);
    expect(stderr).toContain("App deployed in 4.210s!");
  },
);
