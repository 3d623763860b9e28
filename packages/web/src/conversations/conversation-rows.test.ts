import { describe, expect, it } from "vitest";

import { exampleConversation } from "../../test/examples.ts";
import { calendarAge, conversationRows } from "./conversation-rows.ts";

const now = new Date(2026, 5, 15, 10, 0);
const daysAgo = (days: number, hour = 12) => new Date(2026, 5, 15 - days, hour).getTime();

const conversation = (id: string, updatedAt: number, folderId: string | null = null) =>
  exampleConversation({ id, updatedAt, folderId });

const shown = (closed: string[] = []) =>
  conversationRows({
    conversations: [
      conversation("a", daysAgo(0, 9)),
      conversation("b", daysAgo(0, 8), "work"),
      conversation("c", daysAgo(1)),
      conversation("d", daysAgo(3), "gone"),
      conversation("e", daysAgo(400)),
    ],
    folders: [{ id: "work", name: "Work", createdAt: 0 }],
    closedFolders: new Set(closed),
    now,
  }).map(({ key }) => key);

describe("conversationRows", () => {
  it("puts folders first, then the rest by age", () => {
    expect(shown()).toEqual(["work", "b", "today", "a", "yesterday", "c", "week", "d", "older", "e"]);
  });

  it("hides the conversations of a closed folder", () => {
    expect(shown(["work"])).toEqual(["work", "today", "a", "yesterday", "c", "week", "d", "older", "e"]);
  });
});

describe("calendarAge", () => {
  it("counts calendar days", () => {
    expect(calendarAge(daysAgo(0, 0), now)).toBe("today");
    expect(calendarAge(daysAgo(1, 23), now)).toBe("yesterday");
    expect(calendarAge(daysAgo(2), now)).toBe("week");
    expect(calendarAge(daysAgo(7, 0), now)).toBe("week");
    expect(calendarAge(daysAgo(8), now)).toBe("month");
    expect(calendarAge(daysAgo(31), now)).toBe("older");
  });
});
