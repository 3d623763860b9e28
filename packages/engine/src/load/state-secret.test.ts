import { mkdtemp, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { stateSecret } from "./state-secret.ts";

let home = "";
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "ingle-secret-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const file = (): string => path.join(home, "config", "state.key");

describe("the secret of state files", () => {
  it("is created once, for its owner only", async () => {
    const env = { INGLE_HOME: home };
    const secrets = [await stateSecret(env), await stateSecret(env)];
    expect(secrets[0]).toHaveLength(32);
    expect(secrets[1]).toEqual(secrets[0]);
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect(await readdir(path.dirname(file()))).toEqual(["state.key"]);
  });

  it("is one for all that start at the same time, from then on", async () => {
    const env = { INGLE_HOME: home };
    await Promise.all(Array.from({ length: 8 }, () => stateSecret(env)));
    expect(await stateSecret(env)).toEqual(await stateSecret(env));
    expect(await readdir(path.dirname(file()))).toEqual(["state.key"]);
  });

  it("is made of INGLE_STATE_KEY if that is set, without a file", async () => {
    const env = { INGLE_HOME: home, INGLE_STATE_KEY: "one text for all replicas of a server" };
    const secret = await stateSecret(env);
    expect(secret).toHaveLength(32);
    expect(await stateSecret({ ...env, INGLE_STATE_KEY: `${env.INGLE_STATE_KEY}!` })).not.toEqual(secret);
    expect(await readdir(home)).toEqual([]);
    await expect(stateSecret({ INGLE_STATE_KEY: "short" })).rejects.toThrow("at least 32 characters");
  });

  it("is an error if the file is damaged or no file, which says what to do, and the file stays", async () => {
    const env = { INGLE_HOME: home };
    await mkdir(path.dirname(file()));
    await writeFile(file(), "half of it");
    await expect(stateSecret(env)).rejects.toThrow("is damaged. Delete it");
    expect(await readFile(file(), "utf8")).toBe("half of it");
    await rm(file());
    await mkdir(file());
    await expect(stateSecret(env)).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining("Set INGLE_STATE_KEY instead"),
    });
  });
});
