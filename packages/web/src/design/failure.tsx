// Why something of the server failed: a sentence in the user's language, and the server's own one with its details.
import { type ErrorMessage, storedErrorMessage } from "../strings/error-message.ts";

/** The fields of a model, a job or the server that failed. */
interface Failed {
  error: string | null;
  error_code: string | null;
}

interface FailureProps {
  class: string;
  of: Failed;
  role?: "alert";
}

/** Nothing, if it has not failed. */
export function Failure({ class: kind, of, role }: FailureProps) {
  if (of.error === null) return null;
  const { text, detail } = failureMessage({ ...of, error: of.error });
  return (
    <div class={kind} role={role}>
      <p>{text}</p>
      {detail !== null && <p class="small soft">{detail}</p>}
    </div>
  );
}

/** Both sentences in one line; empty without an error. */
export function failureSentence({ error, error_code }: Failed): string {
  if (error === null) return "";
  const { text, detail } = failureMessage({ error, error_code });
  return detail === null ? text : `${text} ${detail}`;
}

/** "Something went wrong" would say less than the server's own sentence. */
function failureMessage({ error, error_code: code }: Failed & { error: string }): ErrorMessage {
  return storedErrorMessage({ code: code === "internal" ? null : code, message: error });
}
