// What a job is about, in the language of the page.
import type { Job } from "@ingle/protocol";

import { strings } from "../strings/strings.ts";

/** What a job is about, in words. */
export function jobTitle({ kind, status, model, source, quantization }: Job): string {
  const text = strings.value.library.jobTitle;
  switch (kind) {
    case "pull":
      return text.pull(model);
    case "import":
      return text.import(source ?? model);
    case "quantize":
      // When it is done, the job names the model that was written.
      return status === "done" ? model : text.quantize(model, quantization ?? "");
  }
}
