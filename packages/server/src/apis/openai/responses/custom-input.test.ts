import fc from "fast-check";
import { expect, test } from "vitest";
import { CustomInput } from "./custom-input.ts";

/** The text after each piece. */
function decoded(...pieces: string[]): string {
  const input = new CustomInput();
  return pieces.map((piece) => input.add(piece)).join("") + input.end();
}

test("any text is decoded, wherever its arguments are cut into pieces", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary" }),
      fc.infiniteStream(fc.integer({ min: 1, max: 7 })),
      (text, sizes) => {
        const pieces: string[] = [];
        for (let rest = JSON.stringify({ input: text }); rest !== "";) {
          const size = sizes.next().value ?? 1;
          pieces.push(rest.slice(0, size));
          rest = rest.slice(size);
        }
        expect(decoded(...pieces)).toBe(text);
      },
    ),
  );
});

test("a text that was cut ends before half an escape", () => {
  expect(decoded('{ "input" : "a\\n\\u00')).toBe("a\n");
  expect(decoded('{"input":"a\\')).toBe("a");
});

test("line ends that are not escaped stay", () => {
  expect(decoded('{"input":"a\nb\tc"}')).toBe("a\nb\tc");
});

test("arguments in another form are the text", () => {
  expect(decoded('{"pat', 'ch":"x"}')).toBe('{"patch":"x"}');
  expect(decoded("")).toBe("");
});
