import { describe, expect, it } from "vitest";
import { scriptedApp } from "../testing/scripted-server.ts";

async function ask(authorization: string | undefined, apiKey: string[], url = "/v1/models") {
  return askWith(authorization === undefined ? {} : { authorization }, apiKey, url);
}

async function askWith(headers: Record<string, string>, apiKey: string[], url = "/v1/models") {
  await using house = await scriptedApp({ flags: { apiKey } });
  return house.app.inject({ url, headers });
}

describe("without keys", () => {
  it.each([undefined, "Bearer anything", "Bearer ", "Basic abc"])("%s is accepted", async (authorization) => {
    expect((await ask(authorization, [])).statusCode).toBe(200);
  });
});

describe("with keys", () => {
  const keys = ["first-key", "second-key"];

  it.each(["Bearer first-key", "bearer second-key", "Bearer  second-key "])(
    "%s is accepted",
    async (authorization) => {
      expect((await ask(authorization, keys)).statusCode).toBe(200);
    },
  );

  it.each([undefined, "", "Bearer", "Bearer first-key2", "Bearer first-ke", "Basic first-key", "first-key"])(
    "%s is a 401 that says how",
    async (authorization) => {
      const response = await ask(authorization, keys);
      expect(response.statusCode).toBe(401);
      expect(response.headers["www-authenticate"]).toBe("Bearer");
      expect(response.json().error).toMatchObject({ code: "unauthorized", type: "authentication_error" });
    },
  );

  it.each<[Record<string, string>, number]>([
    [{ "x-api-key": "second-key" }, 200],
    [{ "x-api-key": "first-key", authorization: "Bearer wrong" }, 200],
    [{ "x-api-key": "wrong", authorization: "Bearer first-key" }, 200],
    [{ "x-api-key": "wrong" }, 401],
    [{ "x-api-key": "" }, 401],
    [{ "x-api-key": "Bearer first-key" }, 401],
  ])("of the header x-api-key count as well: %j is a %i", async (headers, status) => {
    expect((await askWith(headers, keys)).statusCode).toBe(status);
  });

  it.each(["/livez", "/readyz", "/health"])("%s needs none", async (url) => {
    expect((await ask(undefined, keys, url)).statusCode).toBe(200);
  });

  it("are asked for at unknown paths too", async () => {
    expect((await ask(undefined, keys, "/v1/nothing")).statusCode).toBe(401);
  });
});
