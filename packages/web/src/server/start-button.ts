// The one button of the Server page: what it says, whether it can be pressed, and what pressing it orders. Pure.
import type { ServerControl, ServerStatus } from "@ingle/protocol";

/** A key of the texts in strings/. */
export type StartButtonLabel = "start" | "loading" | "starting" | "stop" | "stopping";

export interface StartButton {
  label: StartButtonLabel;
  /** What pressing it orders; null while it cannot be pressed. */
  order: "start" | "stop" | null;
  /** It works, so it shows that it does. */
  isBusy: boolean;
}

const buttons: Readonly<Record<ServerStatus, StartButton>> = {
  stopped: { label: "start", order: "start", isBusy: false },
  failed: { label: "start", order: "start", isBusy: false },
  loading: { label: "loading", order: null, isBusy: true },
  starting: { label: "starting", order: null, isBusy: true },
  running: { label: "stop", order: "stop", isBusy: false },
  stopping: { label: "stopping", order: null, isBusy: true },
};

/** Without control there is no button: null. */
export function startButton({ status, can_control }: ServerControl): StartButton | null {
  return can_control ? buttons[status] : null;
}

/** Whether the settings may be changed: not while the server uses them, and not by a page that has no control. */
export function isLocked({ status, can_control }: ServerControl): boolean {
  return !can_control || (status !== "stopped" && status !== "failed");
}
