import { describe, expect, it } from "vitest";

import { linkTo, parseRoute } from "./router.ts";

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
