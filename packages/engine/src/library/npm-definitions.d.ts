// Types for the part of npm's settings table that npm-settings.ts uses; the published types omit it.
declare module "@npmcli/config/lib/definitions/index.js" {
  import type Config from "@npmcli/config";

  const table: {
    definitions: Config.DefinitionsObject;
    defaults: { registry: string };
    shorthands: Config.ShortFlags;
    flatten: (data: Record<string, unknown>, flat: Record<string, unknown>) => void;
  };
  export default table;
}
