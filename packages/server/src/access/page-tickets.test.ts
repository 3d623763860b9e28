import { expect, it } from "vitest";
import { PageTickets, pageTicket } from "./page-tickets.ts";

const token = "t".repeat(43);

it("opens the page once, within a minute, where it was made from the token", () => {
  const clock = { now: 1_000_000 };
  const tickets = new PageTickets(token, () => clock.now);
  const [first, second, third] = [1, 2, 3].map(() => pageTicket(token, clock.now));
  expect(new Set([first, second, third]).size).toBe(3);
  expect([tickets.redeem(first ?? ""), tickets.redeem(first ?? "")]).toEqual([true, false]);
  clock.now += 60_000;
  expect(tickets.redeem(second ?? "")).toBe(true);
  clock.now += 1;
  expect(tickets.redeem(third ?? "")).toBe(false);
  expect(tickets.redeem(first ?? "")).toBe(false);
});

it("opens nothing where anything of it was changed", () => {
  const now = 1_000_000;
  const tickets = new PageTickets(token, () => now);
  const ticket = pageTicket(token, now);
  const [expiry = "", nonce = "", signature = ""] = ticket.split(".");
  const wrong = [
    pageTicket("u".repeat(43), now),
    pageTicket(token, now + 1),
    `${Number(expiry) - 1}.${nonce}.${signature}`,
    `${expiry}.${nonce}x.${signature}`,
    `${expiry}.${nonce}.${signature.slice(1)}`,
    `${expiry}.${nonce}`,
    token,
    "",
    "..",
    `${expiry}.${nonce}.${signature}.`,
  ];
  expect(wrong.filter((each) => tickets.redeem(each))).toEqual([]);
  expect(tickets.redeem(ticket)).toBe(true);
});
