import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AccessEvent, AccessTally } from "../../src/access-log/access-tally.ts";
import type { AccessEntry } from "../../src/storage/change-log/access-entries.ts";

const minute = 60_000;
const group = (i: number) => String(i).padStart(40, "0");

function event(changes: Partial<AccessEvent> & { actor?: string } = {}): AccessEvent {
  const { actor = "caller", ...rest } = changes;
  const by = { actor, method: "/Service/Method", requestId: "request" };
  return { kind: "denials", by, uid: group(1), groupUids: [group(1)], details: { outcome: "denied" }, ...rest };
}

const few = { accessEntriesOfCaller: 100, accessEntriesOfOrganization: 3, accessEntries: 5 };

function tallyOf(limits = few) {
  const entries: AccessEntry[] = [];
  return { entries, tally: new AccessTally(limits, (entry) => entries.push(entry)) };
}

const countsOf = (entries: readonly AccessEntry[]) =>
  entries.map(({ details: { outcome, count } }) => `${outcome} ${count}`);

describe("the tally of a minute", () => {
  it("writes the first event at once, and its repetitions as one entry at the end of the minute", () => {
    const { entries, tally } = tallyOf();
    for (let i = 0; i < 1000; i++) tally.record(event(), 10 + i);
    assert.deepEqual(countsOf(entries), ["denied 1"]);
    tally.advance(minute);
    assert.deepEqual(countsOf(entries), ["denied 1", "denied 999"]);
    assert.deepEqual([entries[1]?.details.firstTime, entries[1]?.details.lastTime], [11, 1009]);
    tally.advance(2 * minute);
    assert.equal(entries.length, 2);
  });

  it("starts again with each minute, also if the clock goes back", () => {
    const { entries, tally } = tallyOf();
    for (const time of [5 * minute, 6 * minute, 4 * minute]) tally.record(event(), time);
    assert.deepEqual(countsOf(entries), ["denied 1", "denied 1", "denied 1"]);
  });

  it("counts a caller who is denied one uid after another as one", () => {
    const { entries, tally } = tallyOf();
    for (let i = 0; i < 100; i++) tally.record(event({ uid: `${group(1)}/${i}` }), 1);
    tally.advance(minute);
    assert.deepEqual(countsOf(entries), ["denied 1", "denied 99"]);
  });

  it("distinguishes callers, methods, identities, outcomes and checks", () => {
    const { entries, tally } = tallyOf({
      accessEntriesOfCaller: 100,
      accessEntriesOfOrganization: 100,
      accessEntries: 100,
    });
    const exchange = { kind: "token_exchanges", actor: "" } as const;
    const events = [
      event(),
      event({ actor: "other" }),
      event({ by: { actor: "caller", method: "/Service/Other", requestId: "" } }),
      event(exchange),
      event({ ...exchange, uid: group(2) }),
      event({ ...exchange, details: { outcome: "denied", check: "iss" } }),
      event({ ...exchange, details: { outcome: "allowed" } }),
    ];
    for (const each of [...events, ...events]) tally.record(each, 1);
    assert.equal(entries.length, events.length);
  });

  it("limits the entries of an organization, and records how many were omitted", () => {
    const { entries, tally } = tallyOf();
    for (let i = 0; i < 50; i++) tally.record(event({ actor: `caller ${i}` }), 1);
    assert.deepEqual(countsOf(entries), ["denied 1", "denied 1", "denied 1", "omitted 1"]);
    tally.advance(minute);
    assert.deepEqual(countsOf(entries).slice(4), ["omitted 46"]);
    tally.record(event({ actor: "caller 49" }), minute);
    assert.deepEqual(countsOf(entries).slice(5), ["denied 1"]);
  });

  it("leaves other organizations an equal share after a few have used up the total limit", () => {
    const { entries, tally } = tallyOf();
    for (const busy of [1, 2]) {
      for (let i = 0; i < 50; i++) tally.record(event({ groupUids: [group(busy)], actor: `caller ${i}` }), 1);
    }
    const others = () => countsOf(entries.filter(({ groupUid }) => ![group(1), group(2)].includes(groupUid)));
    for (let i = 0; i < 4; i++) tally.record(event({ groupUids: [group(i + 3)], actor: "other" }), 1);
    // Of the sixth, less than one entry would be its part.
    assert.deepEqual(others(), ["denied 1", "denied 1", "denied 1", "omitted 1"]);
  });

  it("leaves others their share if one caller is denied by every method, or many tokens fail", () => {
    for (const flood of ["insider", ""]) {
      const { entries, tally } = tallyOf({ ...few, accessEntriesOfCaller: 2 });
      for (let i = 0; i < 50; i++)
        tally.record(event({ by: { actor: flood, method: `/Service/${i}`, requestId: "" }, uid: group(i) }), 1);
      tally.record(event({ actor: "other" }), 1);
      assert.deepEqual(countsOf(entries), ["denied 1", "denied 1", "omitted 1", "denied 1"]);
    }
  });

  it("records a sign-in in one organization also if the limit of another is used up", () => {
    const { entries, tally } = tallyOf();
    for (let i = 0; i < 3; i++) tally.record(event({ actor: `caller ${i}` }), 1);
    const signIn = event({ kind: "sign_ins", groupUids: [group(1), group(2)], details: { outcome: "allowed" } });
    tally.record(signIn, 1);
    assert.deepEqual(
      entries.slice(3).map(({ groupUid, details }) => [groupUid, details.outcome]),
      [
        [group(1), "omitted"],
        [group(2), "allowed"],
      ],
    );
  });

  it("counts the entries of each organization against the total limit", () => {
    const { entries, tally } = tallyOf();
    tally.record(event({ groupUids: Array.from({ length: 50 }, (_, i) => group(i)) }), 1);
    assert.equal(entries.filter(({ details }) => details.outcome === "denied").length, 5);
  });

  it("records an event in each of its groups, or in none", () => {
    const { entries, tally } = tallyOf();
    tally.record(event({ groupUids: [group(1), group(2)] }), 1);
    tally.record(event({ groupUids: [] }), 1);
    assert.deepEqual(
      entries.map(({ groupUid }) => groupUid),
      [group(1), group(2)],
    );
  });
});
