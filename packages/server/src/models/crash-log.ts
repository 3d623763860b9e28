// The log line of a crashed engine.
import type { EngineCrash } from "@ingle/engine";

/** Logs each crash once its report is written, so that the line names it. */
export function crashLog(
  warn: (sentence: string, about: object) => void,
): (model: string, crash: EngineCrash) => void {
  const log = async (model: string, { error, report }: EngineCrash): Promise<void> => {
    const sentence = `the engine of ${model} crashed and is being restarted; crash report: ${await report}`;
    warn(sentence, { model, reason: error.message });
  };
  return (model, crash) => void log(model, crash); // it never rejects
}
