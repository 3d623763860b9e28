import type { ServerControl, ServerStatus } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import { isLocked, startButton } from "./start-button.ts";

function control(status: ServerStatus, can_control = true): ServerControl {
  return {
    status,
    can_control,
    url: null,
    moved_from_port: null,
    needs_key: false,
    open_requests: 0,
    error: null,
    error_code: null,
    settings: {
      variant: "desktop",
      host: "127.0.0.1",
      port: 1337,
      allow_hosts: [],
      allow_origins: [],
      parallel: null,
      models: [],
      starts_with_app: false,
    },
  };
}

describe("the start button", () => {
  it.each<[ServerStatus, string, string | null, boolean]>([
    ["stopped", "start", "start", false],
    ["loading", "loading", null, true],
    ["starting", "starting", null, true],
    ["running", "stop", "stop", false],
    ["stopping", "stopping", null, true],
    ["failed", "start", "start", false],
  ])("of a server that is %s says %s and does %s", (status, label, action, isBusy) => {
    expect(startButton(control(status))).toEqual({ label, action, isBusy });
  });

  it("is absent on a page without control", () => {
    expect(startButton(control("running", false))).toBeNull();
  });
});

describe("settings", () => {
  it("are locked while the server runs", () => {
    const open = (["stopped", "loading", "starting", "running", "stopping", "failed"] as const).filter(
      (status) => !isLocked(control(status)),
    );
    expect(open).toEqual(["stopped", "failed"]);
  });

  it("are locked on a page without control", () => {
    expect(isLocked(control("stopped", false))).toBe(true);
  });
});
