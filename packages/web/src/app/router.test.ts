import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { go, linkBack, linkTo, parseRoute, route } from "./router.ts";

describe("parseRoute", () => {
  it("reads the page and what stands behind it", () => {
    expect(parseRoute("#/chat/abc")).toEqual({ page: "chat", parts: ["abc"] });
    expect(parseRoute("#/library/org%2Frepo")).toEqual({ page: "library", parts: ["org/repo"] });
    expect(parseRoute("#/settings")).toEqual({ page: "settings", parts: [] });
  });

  it("takes whatever names no page for the chat", () => {
    for (const fragment of ["", "#", "#/", "#/nothing/here", "#/%E0%A4"]) {
      expect(parseRoute(fragment)).toEqual({ page: "chat", parts: [] });
    }
  });

  it("keeps a part that cannot be decoded as it is", () => {
    expect(parseRoute("#/chat/50%")).toEqual({ page: "chat", parts: ["50%"] });
  });
});

describe("linkTo", () => {
  it("makes what parseRoute reads", () => {
    expect(parseRoute(linkTo("library", "org/repo:Q4 K"))).toEqual({
      page: "library",
      parts: ["org/repo:Q4 K"],
    });
  });
});

describe("go", () => {
  beforeEach(() => void vi.stubGlobal("location", { hash: "" }));
  afterEach(() => void vi.unstubAllGlobals());

  it("is there at once, before the browser tells of the new address", () => {
    go(linkTo("library", "hub"));
    expect(route.value).toEqual({ page: "library", parts: ["hub"] });
  });

  it("is led back to where a page was left, and from the page to its beginning", () => {
    go(linkTo("chat", "abc"));
    expect(linkBack("chat")).toBe("#/chat");
    go(linkTo("library", "hub"));
    expect([linkBack("chat"), linkBack("library")]).toEqual(["#/chat/abc", "#/library"]);
    expect(linkBack("server")).toBe("#/server");
  });
});
