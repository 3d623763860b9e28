// What layers.ts must find, on small made-up repositories.
import { describe, expect, it } from "vitest";

import type { TextFile } from "./files.ts";
import { layerProblems } from "./layers.ts";

const cpp = "packages/engine-native/src/";

/** A tree from path to content; package manifests may be given as objects. */
function tree(files: Record<string, string | object>): TextFile[] {
  return Object.entries(files).map(([path, content]) => ({
    path,
    text: typeof content === "string" ? content : JSON.stringify(content),
  }));
}

describe("dependencies between packages", () => {
  it("accepts the plan", () => {
    const files = tree({
      "package.json": { name: "workspace", devDependencies: { vitest: "1" } },
      "packages/client/package.json": {
        name: "@ingle/client",
        dependencies: { "@ingle/protocol": "1", "eventsource-parser": "1" },
      },
      "packages/client/src/a.ts":
        'import { createParser } from "eventsource-parser";\nimport { b } from "./b.ts";\n',
      "packages/client/src/a.test.ts": 'import { it } from "vitest";\nimport { a } from "./index.ts";\n',
      "bench/package.json": { name: "@ingle/bench", dependencies: { "@ingle/server": "1" } },
    });
    expect(layerProblems(files)).toEqual([]);
  });

  it("finds a package that depends on a layer above it", () => {
    const files = tree({
      "packages/engine/package.json": { name: "@ingle/engine", dependencies: { "@ingle/protocol": "1" } },
    });
    expect(layerProblems(files)).toEqual([
      "packages/engine/package.json: @ingle/engine may not depend on @ingle/protocol",
    ]);
  });

  it("finds a third party that a closed package takes in", () => {
    const files = tree({
      "packages/protocol/package.json": {
        name: "@ingle/protocol",
        peerDependencies: { zod: "1", fastify: "1" },
      },
    });
    expect(layerProblems(files)).toEqual([
      "packages/protocol/package.json: @ingle/protocol may not depend on fastify",
    ]);
  });

  it("counts what is built into a bundled package among its dependencies", () => {
    const files = tree({
      "packages/web/package.json": {
        name: "@ingle/web",
        devDependencies: { "@ingle/client": "1", "@ingle/engine": "1", preact: "1" },
      },
      "packages/web/src/a.tsx": 'import { render } from "preact";\nimport { b } from "vite";\n',
    });
    expect(layerProblems(files)).toEqual([
      "packages/web/package.json: @ingle/web may not depend on @ingle/engine",
      "packages/web/src/a.tsx:2: vite is not among the dependencies of packages/web/package.json",
    ]);
  });

  it("finds a package without a layer", () => {
    const files = tree({ "packages/new/package.json": { name: "@ingle/new" } });
    expect(layerProblems(files)).toEqual([expect.stringContaining("@ingle/new has no layer")]);
  });
});

describe("imports", () => {
  const engine = {
    "package.json": { name: "workspace", devDependencies: { zod: "1" } },
    "packages/engine/package.json": { name: "@ingle/engine", dependencies: {} },
  };

  it.each([
    ['import { z } from "zod";', "zod is not among the dependencies"],
    ['import {\n  z,\n} from "zod/v4";', "zod is not among the dependencies"],
    ['import type { A } from "@ingle/server";', "@ingle/server is not among the dependencies"],
    ['export { z } from "zod";', "zod is not among the dependencies"],
    ['import "zod";', "zod is not among the dependencies"],
    ['const z = await import("zod");', "zod is not among the dependencies"],
    ['import { a } from "../../server/src/a.ts";', "leaves its package"],
    ['import { a } from "./index.ts";', "index.ts is for others"],
  ])("finds %j", (text, problem) => {
    const files = tree({ ...engine, "packages/engine/src/a.ts": `// First line.\n${text}\n` });
    const [found, ...more] = layerProblems(files);
    expect(found).toMatch(/^packages\/engine\/src\/a\.ts:2: /);
    expect(found).toContain(problem);
    expect(more).toEqual([]);
  });

  it("ignores comments and Node's own modules", () => {
    const text = '// import { z } from "zod";\n * import("zod")\nimport fs from "node:fs";\n';
    expect(layerProblems(tree({ ...engine, "packages/engine/src/a.ts": text }))).toEqual([]);
  });
});

describe("includes", () => {
  it("accepts the layers and the standard library", () => {
    const files = tree({
      [`${cpp}base/result.h`]: "#include <string>\n",
      [`${cpp}sched/scheduler.h`]: '#include "base/result.h"\n#include <vector>\n',
      [`${cpp}sched/scheduler_test.cpp`]: '#include "scheduler.h"\n#include <random>\n',
      [`${cpp}llama/model.h`]: '#include "../base/result.h"\n#include "llama.h"\n',
      [`${cpp}grammar/gbnf.h`]: '#include "base/result.h"\n',
      [`${cpp}sampling/sampler.h`]: '#include "grammar/gbnf.h"\n',
      [`${cpp}process/landlock.cpp`]: "#include <sys/stat.h>\n#include <unistd.h>\n",
      [`${cpp}llama/chat.h`]: '#include "sampling/sampler.h"\n',
      [`${cpp}engine/engine.h`]: '#include "llama/model.h"\n#include "sched/scheduler.h"\n',
      [`${cpp}napi/addon.cpp`]: '#include "engine/engine.h"\n#include <napi.h>\n',
    });
    expect(layerProblems(files)).toEqual([]);
  });

  it.each([
    ["base/a.h", "sched/b.h", '#include "sched/b.h"', "base/ may not include sched/"],
    ["sched/a.h", "llama/b.h", '#include "llama/b.h"', "sched/ may not include llama/"],
    ["llama/a.h", "sched/b.h", '#include "../sched/b.h"', "llama/ may not include sched/"],
    ["grammar/a.h", "sampling/b.h", '#include "sampling/b.h"', "grammar/ may not include sampling/"],
    ["sampling/a.h", "llama/b.h", '#include "llama/b.h"', "sampling/ may not include llama/"],
    ["sampling/a.h", "sampling/b.h", '#include "llama.h"', "sampling/ may not include llama.h"],
    ["process/a.h", "process/b.h", '#include "llama.h"', "process/ may not include llama.h"],
    ["engine/a.h", "napi/b.h", '#  include "napi/b.h"', "engine/ may not include napi/"],
    ["engine/a.h", "engine/b.h", '#include "llama.h"', "engine/ may not include llama.h"],
    ["llama/a.h", "llama/b.h", "#include <napi.h>", "llama/ may not include napi.h"],
    ["engine/a.h", "engine/b.h", "#include <node_api.h>", "engine/ may not include node_api.h"],
    ["sched/a.h", "sched/b.h", "#include <chrono>", "sched/ is pure and may not include <chrono>"],
    ["base/a.h", "base/b.h", "#include <zlib.h>", "base/ may not include zlib.h"],
    ["other/a.h", "base/b.h", "#include <vector>", "other/ has no layer"],
  ])("finds %s with %s: %s", (from, beside, line, problem) => {
    const files = tree({ [cpp + from]: `#pragma once\n${line}\n`, [cpp + beside]: "" });
    expect(layerProblems(files)).toEqual([expect.stringContaining(`${cpp}${from}:2: ${problem}`)]);
  });

  it("finds a circle of includes once", () => {
    const files = tree({
      [`${cpp}base/a.h`]: '#include "b.h"\n',
      [`${cpp}base/b.h`]: '#include "base/c.h"\n',
      [`${cpp}base/c.h`]: '#include "a.h"\n',
    });
    expect(layerProblems(files)).toEqual([
      `${cpp}base/a.h: includes itself: ${cpp}base/a.h -> ${cpp}base/b.h -> ${cpp}base/c.h -> ${cpp}base/a.h`,
    ]);
  });
});
