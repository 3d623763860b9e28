import { describe, expect, it } from "vitest";
import { sessionCookie, Sessions } from "./sessions.ts";

const place = { protocol: "http", port: 1336 };
const cookie = (secret: string, where = place): string => sessionCookie(secret, where).split(";")[0] ?? "";

describe("sessions", () => {
  it("find the keys that cookies stand for, and nothing by other names", () => {
    const sessions = new Sessions();
    const [one, other] = [sessions.begin("a"), sessions.begin("b")];
    expect(one).not.toBe(other);
    expect(sessions.keyDigests(`x=1;${cookie(one)} ; ${cookie(other)}`, place)).toEqual(["a", "b"]);
    expect(sessions.keyDigests(cookie(one), { ...place, port: 1337 })).toEqual([]);
    expect(sessions.keyDigests(undefined, place)).toEqual([]);
  });

  it("hold no secret that could be read from memory", () => {
    const sessions = new Sessions();
    const secret = sessions.begin("a");
    expect(sessions.keyDigests(`ingle-1336=${secret}x`, place)).toEqual([]);
    expect(sessions.keyDigests("ingle-1336=a", place)).toEqual([]);
  });

  it("beyond a thousand forget the oldest", () => {
    const sessions = new Sessions();
    const secrets = Array.from({ length: 1_001 }, (_, index) => sessions.begin(String(index)));
    const found = (index: number): string[] => sessions.keyDigests(cookie(secrets[index] ?? ""), place);
    expect([found(0), found(1), found(1_000)]).toEqual([[], ["1"], ["1000"]]);
  });
});

it.each([
  [{ protocol: "http", port: 1336 }, "ingle-1336=s; HttpOnly; SameSite=Strict; Path=/"],
  [{ protocol: "http", port: null }, "ingle-80=s; HttpOnly; SameSite=Strict; Path=/"],
  [{ protocol: "https", port: null }, "ingle-443=s; HttpOnly; SameSite=Strict; Path=/; Secure"],
])("the cookie at %j is %s", (where, text) => {
  expect(sessionCookie("s", where)).toBe(text);
});
