import { expect, it } from "vitest";
import { releaseNotes } from "./release-notes.ts";

const engine = `# @ingle/engine

## 0.2.0

### Minor Changes

- 12ab: Loads models twice as fast.

  With maps of memory.

### Patch Changes

- Updated dependencies [12ab]
  - @ingle/gguf@0.2.0

## 0.1.0

### Minor Changes

- First release.
`;
const server = `# @ingle/server\n\n## 0.2.0\n\n### Minor Changes\n\n- 34cd: A flag.\n- 12ab: Loads models twice as fast.\n\n  With maps of memory.\n`;

it("has every change of the version once, whichever packages it is in", () => {
  expect(releaseNotes([engine, server], "0.2.0")).toBe(
    "## Minor Changes\n\n- 12ab: Loads models twice as fast.\n\n  With maps of memory.\n\n- 34cd: A flag.\n",
  );
});
