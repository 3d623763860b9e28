// The engine over the scripted addon.
import { Model } from "@ingle/engine";
import { scriptedAddon, type Script, type ScriptLog } from "@ingle/fixtures/scripted-addon";

/** A Model that follows a script, and the log of its requests. */
export async function scriptedModel(script: Script = {}): Promise<{ model: Model; log: ScriptLog }> {
  const { native, options, log } = scriptedAddon(script);
  return { model: await Model.start(native, options), log };
}
