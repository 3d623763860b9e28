// A request to the server from a button.
import { useState } from "preact/hooks";

import { showError } from "../design/toast.tsx";

/** `[isBusy, attempt]`: `attempt` resolves with whether the work succeeded, and shows its error as a toast. */
export function useAttempt(): [boolean, (work: () => Promise<unknown>) => Promise<boolean>] {
  const [isBusy, setBusy] = useState(false);
  const attempt = async (work: () => Promise<unknown>) => {
    setBusy(true);
    try {
      await work();
      return true;
    } catch (error) {
      showError(error);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return [isBusy, attempt];
}
