// An order to the server from a button: busy until it is answered, and told when it was refused.
import { useState } from "preact/hooks";

import { showError } from "../design/toast.tsx";

/** `[isBusy, attempt]`: `attempt` resolves with whether the work succeeded; its error is shown as a message. */
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
