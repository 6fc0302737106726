// Properties that hold for every document of OpenVEX.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { canonicalJson } from "../../../src/advisories/extra.ts";
import { type Json, read, write } from "./exchange.ts";
import { effective, generatedDocument, generatedPair, type Said, saidBy } from "./generated.ts";

const documents = 100;

/** Everything that is said, each once, in one order. */
function texts(said: readonly Said[]): string[] {
  return [...new Set(said.map((each) => canonicalJson(each)))].sort();
}

describe("OpenVEX that is read and written", () => {
  it("a written document has the same statements, and reads back as the same records", async () => {
    for (let seed = 1; seed <= documents; seed++) {
      const vex = generatedDocument(seed);
      const { records, problems } = read(vex);
      // Some ids name other products than the identifiers next to them. Nothing is lost.
      assert.deepEqual(
        problems.filter((each) => !/which counts|breaks a rule/.test(each)),
        [],
        `seed ${seed}`,
      );
      const { document: written } = await write(records);
      assert.deepEqual(texts(saidBy(written)), texts(saidBy(vex)), `seed ${seed}`);
      const { document: again } = await write(read(written).records);
      assert.deepEqual(again.statements, written.statements, `seed ${seed}`);
    }
  });

  it("is sorted, regardless of the order of statements of different times", async () => {
    for (let seed = 1; seed <= documents; seed++) {
      const [vex] = generatedPair(seed);
      const reversed = { ...vex, statements: vex.statements.toReversed() };
      const [one, other] = await Promise.all([vex, reversed].map((each) => write(read(each).records)));
      assert.deepEqual(other!.document.statements, one!.document.statements, `seed ${seed}`);
    }
  });

  it("exactly the worst status of two sources is written for every version and part", async () => {
    const level = (...statuses: string[]) =>
      Math.max(...statuses.map((status) => ["under_investigation", "affected"].indexOf(status) + 1));
    const probes = ["pkg:oci/image@1", "pkg:oci/image@2", "pkg:oci/image@3"].flatMap((id) =>
      ["pkg:golang/example.test/a@v1.0.0", "pkg:npm/b", "part", "pkg:npm/other"].map((part) => [id, part] as const),
    );
    for (let seed = 1; seed <= documents; seed++) {
      const pair = generatedPair(seed);
      const records = pair.flatMap((vex) => read(vex).records);
      const { document: written, lost } = await write(records);
      assert.deepEqual((await write(records.toReversed())).document, written, `seed ${seed}`);
      for (const [id, part] of probes) {
        const each = pair.map((vex: Json) => effective(saidBy(vex), id, part));
        const found = effective(saidBy(written), id, part);
        const isSaid = each.some((status) => status !== "") && Object.keys(lost).length === 0;
        assert.equal(found !== "", isSaid, `seed ${seed}: ${id} ${part}`);
        if (found !== "") assert.equal(level(found), level(...each), `seed ${seed}: ${id} ${part}`);
      }
    }
  });
});
