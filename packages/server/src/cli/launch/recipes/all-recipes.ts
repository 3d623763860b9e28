// Every recipe, by its name.
import type { LaunchName } from "../names.ts";
import type { Recipe } from "../recipe.ts";
import { aider } from "./aider.ts";
import { n8n, vscode, zed } from "./by-hand.ts";
import { claude } from "./claude.ts";
import { cline } from "./cline.ts";
import { codex } from "./codex.ts";
import { continueCli } from "./continue.ts";
import { copilot } from "./copilot.ts";
import { crush } from "./crush.ts";
import { droid } from "./droid.ts";
import { goose } from "./goose.ts";
import { openWebui } from "./open-webui.ts";
import { opencode } from "./opencode.ts";
import { pi } from "./pi.ts";
import { qwen } from "./qwen.ts";

/** Those with a name of `launchNames`. */
export const recipes: Readonly<Record<LaunchName, Recipe>> = {
  claude,
  codex,
  opencode,
  qwen,
  cline,
  continue: continueCli,
  crush,
  copilot,
  droid,
  goose,
  pi,
  aider,
  "open-webui": openWebui,
  zed,
  vscode,
  n8n,
};
