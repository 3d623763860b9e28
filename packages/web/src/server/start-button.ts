// The start button of the Server page, and whether the settings are locked. Pure.
import type { ServerControl, ServerStatus } from "@ingle/protocol";

/** A key of `serverText.button`. */
type StartButtonLabel = "start" | "loading" | "starting" | "stop" | "stopping";

interface StartButton {
  label: StartButtonLabel;
  /** What pressing it does; null while it cannot be pressed. */
  action: "start" | "stop" | null;
  isBusy: boolean;
}

const buttons: Readonly<Record<ServerStatus, StartButton>> = {
  stopped: { label: "start", action: "start", isBusy: false },
  failed: { label: "start", action: "start", isBusy: false },
  loading: { label: "loading", action: null, isBusy: true },
  starting: { label: "starting", action: null, isBusy: true },
  running: { label: "stop", action: "stop", isBusy: false },
  stopping: { label: "stopping", action: null, isBusy: true },
};

/** Null if this page does not control the server. */
export function startButton({ status, can_control }: ServerControl): StartButton | null {
  return can_control ? buttons[status] : null;
}

/** Whether the settings are locked: while the server uses them, and for a page without control. */
export function isLocked({ status, can_control }: ServerControl): boolean {
  return !can_control || (status !== "stopped" && status !== "failed");
}
