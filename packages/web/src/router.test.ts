import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { navigate, linkBack, linkTo, parseRoute, route } from "./router.ts";

describe("parseRoute", () => {
  it("reads the page and its parts", () => {
    expect(parseRoute("#/chat/abc")).toEqual({ page: "chat", parts: ["abc"] });
    expect(parseRoute("#/library/org%2Frepo")).toEqual({ page: "library", parts: ["org/repo"] });
    expect(parseRoute("#/settings")).toEqual({ page: "settings", parts: [] });
  });

  it("reads an unknown page as the chat", () => {
    for (const fragment of ["", "#", "#/", "#/nothing/here", "#/%E0%A4"]) {
      expect(parseRoute(fragment)).toEqual({ page: "chat", parts: [] });
    }
  });

  it("keeps a part that cannot be decoded", () => {
    expect(parseRoute("#/chat/50%")).toEqual({ page: "chat", parts: ["50%"] });
  });
});

describe("linkTo", () => {
  it("is the inverse of parseRoute", () => {
    expect(parseRoute(linkTo("library", "org/repo:Q4 K"))).toEqual({
      page: "library",
      parts: ["org/repo:Q4 K"],
    });
  });
});

describe("navigate", () => {
  beforeEach(() => void vi.stubGlobal("location", { hash: "" }));
  afterEach(() => void vi.unstubAllGlobals());

  it("changes the route before the browser reports the new URL", () => {
    navigate(linkTo("library", "hub"));
    expect(route.value).toEqual({ page: "library", parts: ["hub"] });
  });

  it("leads linkBack to where a page was left, or from the page itself to its start", () => {
    navigate(linkTo("chat", "abc"));
    expect(linkBack("chat")).toBe("#/chat");
    navigate(linkTo("library", "hub"));
    expect([linkBack("chat"), linkBack("library")]).toEqual(["#/chat/abc", "#/library"]);
    expect(linkBack("server")).toBe("#/server");
  });
});
