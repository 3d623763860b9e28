import { describe, expect, it } from "vitest";
import { callsBegin, readCalls } from "./tool-syntax.ts";

const calls = [
  { id: "", name: "get_weather", arguments: '{"city":"Rome","days":[1,2],"note":"a \\"b\\" }\\\\"}' },
  { id: "", name: "get_time", arguments: "{}" },
];
const written = `${callsBegin}{"name": "get_weather", "arguments": {\n\t "city": "Rome",\t"days":[1,\n2],"note":"a \\"b\\" }\\\\"}},\n {"name": "get_time", "arguments": {}}]}`;

describe("calls that a reply has written", () => {
  it("are read with what stands before them, without the space around their values", async () => {
    expect(await readCalls(`Let me see.\n${written}`, false)).toEqual({
      content: "Let me see.",
      reasoning: "",
      calls,
    });
  });

  it("are told of a reply that was cut in one of them, as far as it came", async () => {
    const cut = written.slice(0, written.indexOf("days") + 2);
    const partial = await readCalls(cut, true);
    expect(partial?.calls).toEqual([{ id: "", name: "get_weather", arguments: '{"city":"Rome","da' }]);
    expect((await readCalls(written.slice(0, -4), true))?.calls).toEqual([
      calls[0],
      { ...calls[1], arguments: "{" },
    ]);
  });

  it("only grow while the reply does", async () => {
    let before: typeof calls = [];
    for (let length = 0; length <= written.length; length += 1) {
      const { calls: now } = (await readCalls(written.slice(0, length), true)) ?? { calls: [] };
      expect(now.length).toBeGreaterThanOrEqual(before.length);
      for (const [index, call] of before.entries()) {
        expect(now[index]?.name).toBe(call.name);
        expect(now[index]?.arguments.startsWith(call.arguments)).toBe(true);
      }
      before = now;
    }
    expect(before).toEqual(calls);
  });

  it("are none where a whole reply is no JSON of them", async () => {
    expect(await readCalls(written.slice(0, -2), false)).toBeNull();
    expect(await readCalls(`${callsBegin}1, 2]}`, false)).toBeNull();
  });

  it("are read in time that grows with the reply, not faster", async () => {
    const long = `${callsBegin}{"name": "f", "arguments": {"text": "${"\\\\x".repeat(300_000)}"}}]}`;
    const begin = performance.now();
    expect((await readCalls(long, false))?.calls).toHaveLength(1);
    expect(performance.now() - begin).toBeLessThan(1_000);
  });
});
