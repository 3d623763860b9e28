// The flags of `ingle launch`.
import { flagKinds } from "../../settings/setting.ts";
import type { FlagsIn } from "../command-flags.ts";

const { text, integer, toggle } = flagKinds();

export const launchFlags = [
  text("--model <model>", "Model to use", {
    defaultText: "the one that a running server has in memory, else as in `ingle serve`",
    details: "See [which model](#which-model).",
  }),
  integer("--ctx <tokens>", "Context length to load the model with", {
    min: 1,
    defaultText: "as in `ingle serve`",
  }),
  text("--url <url>", "Address of the server", {
    variables: ["INGLE_URL"],
    defaultText: "a server of yours, else one is started",
  }),
  text("--api-key <key>", "Key for the program; with --url only", {
    variables: ["INGLE_API_KEYS"],
    details: "The first key of the variable is used. Other users of the machine can see flags.",
  }),
  toggle("--offline", "Download nothing; the model must already be on this machine"),
  toggle("--anyway", "Start the program even if the model does not fit it"),
  toggle("--save", "Write the settings into the program's own configuration, and do not start it", {
    details: "They are merged with what is there, and a copy of the file is kept.",
  }),
] as const;
export type LaunchFlags = FlagsIn<typeof launchFlags>;
