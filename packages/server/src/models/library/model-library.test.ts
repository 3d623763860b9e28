import { describe, expect, it } from "vitest";
import { modelLibrary } from "./model-library.ts";

describe("a pull that is asked for over HTTP", () => {
  it.each(["/etc/passwd", "./models", "../model.gguf", "model.gguf"])(
    "looks at no path: %s",
    async (model) => {
      const library = modelLibrary({ env: {} });
      const pulling = library.pull(model, { signal: new AbortController().signal, onProgress: () => {} });
      await expect(pulling).rejects.toMatchObject({
        name: "WireError",
        code: "invalid_request",
        details: { param: "model" },
      });
    },
  );
});
