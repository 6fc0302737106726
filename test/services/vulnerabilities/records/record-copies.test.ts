// Tests which of two copies of a record counts.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RecordOutcome } from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { type Copy, decideCopy } from "../../../../src/services/vulnerabilities/records/record-copies.ts";

const now = 1000;
const { CREATED, UPDATED, UNCHANGED, WITHDRAWN, LEFT_OUT } = RecordOutcome;

function copy(digest: string, modifyTime: number | null, more: Partial<Copy> = {}): Copy {
  return { digest, repairedDigest: digest, modifyTime, modifyNanos: 0, revision: 0, withdrawTime: null, ...more };
}

function outcomeOf(incoming: Copy, stored?: Copy, completed?: number): RecordOutcome {
  const complete = { parent: "", source: "", document: "", modifyNanos: 0, revision: 0, modifyTime: completed ?? 0 };
  return decideCopy(incoming, stored, completed === undefined ? undefined : complete, now).outcome;
}

describe("a copy of a record", () => {
  const cases: readonly (readonly [string, RecordOutcome, Copy, (Copy | undefined)?, number?])[] = [
    ["is created where there is none", CREATED, copy("a", 5)],
    ["is created with a time before 1970", CREATED, copy("a", -62_135_596_800_000)],
    ["is withdrawn where there is none", WITHDRAWN, copy("a", 5, { withdrawTime: 5 })],
    ["is unchanged where it is stored", UNCHANGED, copy("a", 5), copy("a", 5)],
    ["updates an earlier one", UPDATED, copy("b", 6), copy("a", 5)],
    ["updates one that is earlier by nanoseconds", UPDATED, copy("a", 5, { modifyNanos: 2 }), copy("b", 5)],
    ["updates one of an earlier revision", UPDATED, copy("a", 5, { revision: 2 }), copy("b", 5, { revision: 1 })],
    ["withdraws an earlier one", WITHDRAWN, copy("b", 6, { withdrawTime: 6 }), copy("a", 5)],
    ["updates one that was withdrawn", UPDATED, copy("b", 7, { withdrawTime: 6 }), copy("a", 6, { withdrawTime: 6 })],
    ["changes nothing where a later one is stored", UNCHANGED, copy("a", 5), copy("b", 6)],
    ["counts by its digest where both have one time", UPDATED, copy("b", 5), copy("a", 5)],
    ["is left out by its digest where both have one time", LEFT_OUT, copy("a", 5), copy("b", 5)],
    [
      "updates one whose ecosystems are in another spelling",
      UPDATED,
      copy("a", 5),
      copy("b", 5, { repairedDigest: "a" }),
    ],
    [
      "changes nothing in another spelling of its ecosystems",
      UNCHANGED,
      copy("b", 5, { repairedDigest: "a" }),
      copy("a", 5),
    ],
    [
      "is left out where a later one is stored in another spelling",
      LEFT_OUT,
      copy("b", 5),
      copy("a", 5, { repairedDigest: "c" }),
    ],
    ["updates another one where neither has a time", UPDATED, copy("a", null), copy("b", null)],
    ["updates one without a time if it has one", UPDATED, copy("a", 5), copy("b", null)],
    ["is left out without a time where one with a time is stored", LEFT_OUT, copy("b", null), copy("a", 5)],
    ["is stored with a time that is to come", CREATED, copy("a", now + 1)],
    ["does not keep out others by a time that is to come", UPDATED, copy("a", 5), copy("b", now + 1)],
    ["is left out by a time that is to come", LEFT_OUT, copy("b", now + 1), copy("a", 5)],
    ["changes nothing if it is of an earlier version of a completed document", UNCHANGED, copy("a", 5), undefined, 6],
    ["is created in the version in which its document was completed", CREATED, copy("a", 6), undefined, 6],
    ["is left out without a time where its document was completed", LEFT_OUT, copy("a", null), undefined, 6],
  ];
  for (const [name, expected, ...copies] of cases) {
    it(name, () => assert.equal(outcomeOf(...copies), expected));
  }

  it("wins independently of the order in which two copies arrive", () => {
    const copies = [-5, 5, 6, now + 1, now + 2].flatMap((time) => [
      copy(`a${time}`, time),
      copy(`b${time}`, time),
      copy(`c${time}`, time, { revision: 1 }),
      copy(`d${time}`, time, { repairedDigest: `a${time}` }),
      copy(`e${time}`, time, { repairedDigest: `a${time}` }),
    ]);
    const stored = (list: readonly Copy[]) =>
      list.reduce<Copy | undefined>((known, each) => {
        const { outcome } = decideCopy(each, known, undefined, now);
        return outcome === UNCHANGED || outcome === LEFT_OUT ? known : each;
      }, undefined);
    for (const a of copies) for (const b of copies) assert.deepEqual(stored([a, b]), stored([b, a]));
  });
});
