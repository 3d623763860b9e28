// The part of npm's own settings table that npm-settings.ts needs and the published types leave out.
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
