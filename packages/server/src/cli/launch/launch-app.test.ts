// `ingle launch` beside `ingle app`, whose server for programs has another address than its page.
import path from "node:path";
import { ServerControl } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import { installedTiny, scriptedEngine, testWorld } from "../../../test/cli-context.ts";
import { programDesk } from "../../../test/launched-program.ts";
import { main } from "../main.ts";

describe.runIf(process.platform !== "win32")("ingle launch", () => {
  it("uses the server that the app has started, and loads the model there", async () => {
    await using desk = await programDesk("codex");
    const engine = scriptedEngine({ contextLength: 65_536 }, { listModels: async () => [installedTiny] });
    const env = {
      HOME: desk.home,
      INGLE_HOME: path.join(desk.home, "..", "ingle"),
      PATH: desk.bin + path.delimiter + process.env["PATH"],
      REPORT: desk.reportFile,
    };
    const app = testWorld({ engine, env });
    const appEnded = main("ingle", ["app", "--port", "0", "--no-open"], app.context);
    await app.outHas("token=");
    const { origin, searchParams } = new URL(/http:\S+token=\S+/.exec(app.out())?.[0] ?? "");
    const response = await fetch(`${origin}/api/v1/server/start`, {
      method: "POST",
      headers: { authorization: `Bearer ${searchParams.get("token")}`, "content-type": "application/json" },
      body: "{}",
    });
    const { url } = ServerControl.parse(await response.json());
    const world = testWorld({ engine, env });
    const exit = await main("ingle", ["launch", "codex", "--model", "tiny"], world.context);
    expect([exit, world.err()]).toEqual([
      0,
      expect.stringContaining(`Codex uses ${installedTiny.id} at ${url}.`),
    ]);
    expect((await desk.report()).args).toContain(`model_providers.ingle.base_url="${url}/v1"`);
    app.signals.emit("SIGINT");
    await appEnded;
  });
});
