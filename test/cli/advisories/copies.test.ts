// Copies of one record or document, imported one after the other: what holds is what the latest of them says.
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { stopPostgres } from "../../harness/postgres.ts";
import { rest } from "../../harness/rest.ts";
import type { DatabaseKind } from "../../harness/server.ts";
import { type Desk, type Json, openDesk } from "./desk.ts";
import { read } from "./reading.ts";

let desk: Desk;
after(stopPostgres);

/** The time of a copy: all are past, since one that is still to come is no measure. */
const day = (of: number) => `2020-01-${String(of).padStart(2, "0")}T00:00:00Z`;

/** A Go package that is fixed in these versions; in none, it is affected. */
const go = (name: string, ...fixes: string[]) => ({
  package: { ecosystem: "Go", name },
  ranges: [{ type: "SEMVER", events: [{ introduced: "0" }, ...fixes.map((fixed) => ({ fixed }))] }],
});

/** The copy of a record of a day. */
const osv = (of: number, affected: object[], more: object = {}) => ({
  ...{ id: "GO-2020-0001", modified: day(of), published: day(1), aliases: ["CVE-2020-1"], affected, ...more },
});

const csaf = (of: number, status: string) => ({
  document: { csaf_version: "2.0", publisher: { name: "Vendor" }, tracking: { current_release_date: day(of) } },
  product_tree: {
    full_product_names: [{ product_id: "p", name: "a", product_identification_helper: { purl: "pkg:apk/wolfi/a@1" } }],
  },
  vulnerabilities: [{ cve: "CVE-2020-1", release_date: day(1), product_status: { [status]: ["p"] } }],
});

const openvex = (of: number, status: string) => ({
  ...{ "@context": "https://openvex.dev/ns/v0.2.0", author: "Team", timestamp: day(1), last_updated: day(of) },
  statements: [{ vulnerability: { name: "CVE-2020-1" }, products: [{ "@id": "pkg:apk/wolfi/a@1" }], status }],
});

/** What an event is called here. */
function stateOf({ fixed, falsePositiveDetermination }: Json): string {
  return fixed ? `fixed ${fixed.fixedVersion}` : falsePositiveDetermination ? "never" : "affected";
}

async function advisoriesOf(group: string): Promise<Json[]> {
  const query = `uidp.descendants_of=${encodeURIComponent(group)}`;
  const { url, ownerToken } = desk.caller.server;
  const { body } = await rest(url, ownerToken, "GET", `/vulnerabilities/v2beta1/advisories?${query}`);
  return body.advisories.toSorted((a: Json, b: Json) => (a.artifactName < b.artifactName ? -1 : 1));
}

/** Every artifact of a group with its state. */
async function statesOf(group: string): Promise<string[]> {
  return (await advisoriesOf(group)).map(({ artifactName, events }) => `${artifactName}: ${stateOf(events.at(-1))}`);
}

/** Imports what a document comes to, and answers what became of it: created, updated, unchanged. */
async function importCopy(group: string, copy: object, author = ""): Promise<number[]> {
  const { found, problems } = read(copy, "auto", author);
  assert.deepEqual(problems, []);
  const { url, ownerToken } = desk.caller.server;
  const path = `/gatehouse/vulnerabilities/v1/advisories/${group}:import`;
  const { body } = await rest(url, ownerToken, "POST", path, { advisories: found });
  const outcomes: string[] = body.results.map(({ outcome }: Json) => outcome.slice("IMPORT_OUTCOME_".length));
  return ["CREATED", "UPDATED", "UNCHANGED"].map((each) => outcomes.filter((outcome) => outcome === each).length);
}

for (const database of ["sqlite", "postgres"] satisfies DatabaseKind[]) {
  describe(`copies of a record, ${database}`, () => {
    before(async () => {
      desk = await openDesk({ database });
    });
    after(() => desk[Symbol.asyncDispose]());

    const sources: Readonly<Record<string, readonly [states: readonly string[], copies: readonly object[]]>> = {
      OSV: [
        ["fixed 1", "never", "fixed 1", "affected", "fixed 1", "fixed 2"],
        ["1", "0", "1", "", "1", "2"].map((fix, i) => osv(i + 1, [go("a", ...(fix === "" ? [] : [fix]))])),
      ],
      "OSV, several branches": [
        ["fixed 3", "never", "fixed 3", "fixed 2", "fixed 4"],
        [["1", "3"], ["0"], ["1", "3"], ["2"], ["2", "4"]].map((fixes, i) => osv(i + 1, [go("a", ...fixes)])),
      ],
      CSAF: [
        ["fixed 1", "affected", "fixed 1", "never"],
        ["fixed", "known_affected", "fixed", "known_not_affected"].map((status, i) => csaf(i + 1, status)),
      ],
      OpenVEX: [
        ["fixed 1", "affected", "fixed 1", "never"],
        ["fixed", "affected", "fixed", "not_affected"].map((status, i) => openvex(i + 1, status)),
      ],
    };
    for (const [format, [states, copies]] of Object.entries(sources)) {
      it(`${format}: the state is what the latest says, also what was said before`, async () => {
        const group = await desk.newGroup();
        for (const [i, copy] of copies.entries()) {
          const expected = [i === 0 ? 1 : 0, i === 0 ? 0 : 1, 0];
          assert.deepEqual(await importCopy(group, copy), expected, `copy ${i}`);
          assert.deepEqual(await importCopy(group, copy), [0, 0, 1], `copy ${i} once more`);
          assert.deepEqual(await statesOf(group), [`a: ${states[i]}`]);
        }
        const [{ events, createTime }] = (await advisoriesOf(group)) as [Json];
        const days = [createTime, events[0].createTime, events.at(-1).createTime].map((time) => time.slice(0, 10));
        assert.deepEqual(
          days,
          [1, 1, copies.length].map((each) => day(each).slice(0, 10)),
        );
      });

      it(`${format}: an older copy changes nothing`, async () => {
        const [group, shuffled] = [await desk.newGroup(), await desk.newGroup()];
        await importCopy(group, copies.at(-1)!);
        const before = await advisoriesOf(group);
        for (const copy of copies.slice(0, -1)) assert.deepEqual(await importCopy(group, copy), [0, 0, 1]);
        assert.deepEqual(await advisoriesOf(group), before);
        for (const i of [1, 0, 2]) await importCopy(shuffled, copies[i]!);
        assert.deepEqual(await statesOf(shuffled), [`a: ${states[2]}`]);
      });
    }

    it("a later copy that says the same is no change, but the copies between are older from then on", async () => {
      const group = await desk.newGroup();
      await importCopy(group, osv(1, [go("a", "1")]));
      const before = await advisoriesOf(group);
      assert.deepEqual(await importCopy(group, osv(5, [go("a", "1")])), [0, 0, 1]);
      assert.deepEqual(await importCopy(group, osv(3, [go("a", "0")])), [0, 0, 1]);
      assert.deepEqual(await advisoriesOf(group), before);
    });

    it("what somebody else has found since holds until the source changes its mind", async () => {
      const group = await desk.newGroup();
      await importCopy(group, osv(1, [go("a")]));
      await importCopy(group, osv(3, [go("a", "0")], { published: day(3) }), "somebody");
      assert.deepEqual(await statesOf(group), ["a: never"]);
      await importCopy(group, osv(1, [go("a")]));
      assert.deepEqual(await statesOf(group), ["a: never"]);
      await importCopy(group, osv(5, [go("a", "2")]));
      assert.deepEqual(await statesOf(group), ["a: fixed 2"]);
    });

    it("of two documents of one time neither is later, and once they are known neither changes anything", async () => {
      const group = await desk.newGroup();
      const copies = [csaf(1, "fixed"), csaf(1, "known_affected")];
      const imported = async () => [await importCopy(group, copies[0]!), await importCopy(group, copies[1]!)];
      assert.deepEqual(await imported(), [
        [1, 0, 0],
        [0, 1, 0],
      ]);
      for (let i = 0; i < 2; i++) {
        assert.deepEqual(await imported(), [
          [0, 0, 1],
          [0, 0, 1],
        ]);
      }
    });

    it("the latest copy holds also where it says that it is older than what it says", async () => {
      const group = await desk.newGroup();
      await importCopy(group, osv(1, [go("a", "1")], { published: day(9) }));
      await importCopy(group, osv(2, [go("a", "0")], { published: day(9) }));
      assert.deepEqual(await statesOf(group), ["a: never"]);
    });

    it("a time that is still to come keeps nothing out", async () => {
      const group = await desk.newGroup();
      await importCopy(group, osv(1, [go("a", "1")], { modified: "9999-12-31T00:00:00Z" }));
      assert.deepEqual(await importCopy(group, osv(2, [go("a", "2")])), [0, 1, 0]);
      assert.deepEqual(await statesOf(group), ["a: fixed 2"]);
    });

    it("what was withdrawn is not brought back by an older copy, but by a later one", async () => {
      const group = await desk.newGroup();
      const withdrawn = osv(3, [go("a"), go("b")], { withdrawn: day(3) });
      await importCopy(group, withdrawn);
      assert.deepEqual(await importCopy(group, osv(2, [go("a"), go("b"), go("c")])), [0, 0, 3]);
      assert.deepEqual(await statesOf(group), []);
      await importCopy(group, osv(4, [go("a"), go("b")]));
      assert.deepEqual(await statesOf(group), ["a: affected", "b: affected"]);
      // Nor is it withdrawn by one.
      assert.deepEqual(await importCopy(group, withdrawn), [0, 0, 2]);
      assert.deepEqual(await statesOf(group), ["a: affected", "b: affected"]);
    });
  });

  describe(`packages of a record, ${database}`, () => {
    before(async () => {
      desk = await openDesk({ database });
    });
    after(() => desk[Symbol.asyncDispose]());

    const all = [go("a", "1"), go("b", "2"), go("c")];
    const copies: readonly (readonly [what: string, affected: object[], states: string[], counts: number[]])[] = [
      ["a package that is no more affected", [all[0]!, all[2]!], ["a: fixed 1", "c: affected"], [0, 1, 1]],
      ["nor is the first, whose place another one takes", [all[1]!, all[2]!], ["b: fixed 2", "c: affected"], [0, 1, 1]],
      ["all in another order", [all[2]!, all[0]!, all[1]!], ["a: fixed 1", "b: fixed 2", "c: affected"], [1, 1, 1]],
      ["all but the first", [all[0]!], ["a: fixed 1"], [0, 1, 0]],
    ];
    const [first, fewer, later] = [osv(1, all), osv(2, [all[0]!, all[2]!]), osv(3, all)];
    const runs: readonly (readonly object[])[] = [
      [first, first],
      [first, fewer],
      [fewer, first],
      [first, fewer, later],
      [later, fewer, first],
      [fewer, later, first, fewer],
      // Parts of a record that are not in the request of the record itself.
      [
        osv(
          1,
          Array.from({ length: 150 }, (_, i) => go(`m${i}`)),
        ),
        ...Array.from({ length: 3 }, () => later),
      ],
    ];
    for (const [i, run] of runs.entries()) {
      it(`a dry run of several copies at once counts as the run does, ${i + 1}`, async () => {
        const group = await desk.newGroup();
        const files = Object.fromEntries(run.map((document, n) => [`${n}.json`, document]));
        const folder = desk.folder({
          ...files,
          "other.json": { ...osv(1, [all[0]!]), id: "OTHER-1" },
          "wrong.json": { id: "x" },
        });
        for (let round = 0; round < 2; round++) {
          const dry = await desk.importInto(group, folder, "--dry-run");
          const before = await desk.countOf(group);
          const done = await desk.importInto(group, folder);
          assert.equal(dry.stdout, `would be: ${done.stdout}`);
          assert.equal(dry.stderr, done.stderr);
          assert.equal(round === 0 ? before : 0, 0);
        }
      });
    }

    for (const [what, affected, states, counts] of copies) {
      it(`${what}: each is there once, as the latest copy says`, async () => {
        const group = await desk.newGroup();
        const [first, second] = [osv(1, all), osv(2, affected)];
        assert.deepEqual(await importCopy(group, first), [3, 0, 0]);
        const file = path.join(desk.folder({ "a.json": second }), "a.json");
        const [created, updated, unchanged] = counts;
        const told = `${created} created, ${updated} updated, ${unchanged} unchanged, 0 left out\n`;
        assert.equal((await desk.importInto(group, file, "--dry-run")).stdout, `would be: ${told}`);
        assert.equal((await desk.importInto(group, file)).stdout, told);
        assert.deepEqual(await statesOf(group), states);
        for (const copy of [second, first]) {
          await importCopy(group, copy);
          assert.deepEqual(await statesOf(group), states);
        }
        // What comes back is there again.
        await importCopy(group, osv(3, all));
        assert.deepEqual(await statesOf(group), ["a: fixed 1", "b: fixed 2", "c: affected"]);
      });
    }

    it("an older copy adds no package that the later one has not", async () => {
      const group = await desk.newGroup();
      await importCopy(group, osv(2, [go("a", "1")]));
      assert.deepEqual(await importCopy(group, osv(1, all)), [0, 0, 3]);
      assert.deepEqual(await statesOf(group), ["a: fixed 1"]);
    });

    it("another record of the same vulnerability is no part", async () => {
      const group = await desk.newGroup();
      await importCopy(group, osv(1, [go("d")], { id: "GHSA-2020-0001", aliases: ["GO-2020-0001"] }));
      await importCopy(group, osv(1, all));
      await importCopy(group, osv(2, [go("a", "1")]));
      assert.deepEqual(await statesOf(group), ["a: fixed 1", "d: affected"]);
    });

    it("what somebody else speaks of stays when the record has it no more", async () => {
      const group = await desk.newGroup();
      await importCopy(group, osv(1, all));
      const statements = [{ vulnerability: "GO-2020-0001", products: ["pkg:golang/b@2"], status: "fixed" }];
      await importCopy(group, { ...openvex(1, ""), statements });
      await importCopy(group, osv(1, all));
      assert.deepEqual(await statesOf(group), ["a: fixed 1", "b: fixed 2", "c: affected"]);
      await importCopy(group, osv(2, [go("a", "1")]));
      assert.deepEqual(await statesOf(group), ["a: fixed 1", "b: fixed 2"]);
    });
  });
}
