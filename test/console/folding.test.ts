// Tests how the console folds changes into lines.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { foldChanges } from "../../console/src/api/folding.ts";
import { type Change, ChangeSchema } from "../../gen/gatehouse/changes/v1/changes_pb.ts";

/** Returns a change of an actor: the kind, the verb and the time on 23 November in UTC. */
function change(actorUid: string, key: string, time: string): Change {
  return create(ChangeSchema, {
    actorUid,
    kind: key.split(".")[0]!,
    time: timestampFromDate(new Date(time.includes("T") ? time : `2026-11-23T${time}:00Z`)),
    sentence: { key },
  });
}

/** Returns the lines of each day: the key, and how many changes it stands for. */
function linesOf(...changes: Change[]): string[] {
  return foldChanges(changes, true).flatMap(({ folds }) => folds.map((fold) => `${fold.key} ${fold.changes.length}`));
}

describe("folded changes", () => {
  it("changes by one actor of one kind and verb within ten minutes fold into one line", () => {
    const made = (time: string, actor = "a") => change(actor, "groups.created", time);
    assert.deepEqual(linesOf(made("10:10"), made("10:05"), made("10:00")), ["groups.created 3"]);
    assert.deepEqual(linesOf(made("10:11"), made("10:05"), made("10:00")), ["groups.created 2", "groups.created 1"]);
    assert.deepEqual(linesOf(made("10:10"), made("10:05", "b")), ["groups.created 1", "groups.created 1"]);
    const deleted = change("a", "groups.deleted", "10:05");
    assert.deepEqual(linesOf(made("10:10"), deleted, made("10:00")), [
      "groups.created 1",
      "groups.deleted 1",
      "groups.created 1",
    ]);
  });

  it("the sign-ins of an actor on a day fold into one line, which divides no run of other changes", () => {
    const signIn = (time: string, actor = "a") => change(actor, "sign_ins.allowed", time);
    const made = (time: string) => change("a", "groups.created", time);
    assert.deepEqual(linesOf(signIn("20:00"), made("10:02"), signIn("10:01"), made("10:00"), signIn("02:00")), [
      "sign_ins.allowed 3",
      "groups.created 2",
    ]);
    assert.deepEqual(linesOf(signIn("00:01"), signIn("2026-11-22T23:59:00Z")), [
      "sign_ins.allowed 1",
      "sign_ins.allowed 1",
    ]);
    assert.deepEqual(linesOf(signIn("03:00"), change("a", "sign_ins.denied", "02:00")), [
      "sign_ins.allowed 1",
      "sign_ins.denied 1",
    ]);
  });

  it("the sign-ins of more than three people on a day fold into one line, which opens to a line for each person", () => {
    const some = [..."abcda"].map((actor) => change(actor, "sign_ins.allowed", "10:00"));
    assert.deepEqual(linesOf(...some), ["sign_ins.several 5"]);
    const [day] = foldChanges(some, true);
    assert.deepEqual(
      day!.folds[0]!.folds.map(({ changes }) => changes.length),
      [2, 1, 1, 1],
    );
    assert.equal(linesOf(...some.slice(0, 3)).length, 3);
  });
});
