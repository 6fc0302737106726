// CSAF that is read and written again says the same. All documents are made up.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { canonicalJson } from "../../../src/advisories/extra.ts";
import { generatedDocument } from "./generated.ts";
import { meaningOf } from "./meaning.ts";
import { csaf, type Json, product, read } from "./reading.ts";
import { advisoriesOf, write } from "./writing.ts";

const documents = 150;

describe("CSAF that is read and written again", () => {
  it(`says the same, for ${documents} generated documents`, async () => {
    for (let seed = 1; seed <= documents; seed++) {
      const document = generatedDocument(seed);
      const { records } = read(document);
      const { document: written, losses } = await write(advisoriesOf(records));
      assert.deepEqual(meaningOf(written), meaningOf(document), `seed ${seed}`);
      const isVex = document.document.category === "csaf_vex";
      if (isVex) assert.deepEqual([written.document.category, losses], ["csaf_vex", []], `seed ${seed}`);
      // A written document reads back as the same records, apart from the document that they name.
      assert.deepEqual(statementsOf(read(written).json), statementsOf(read(document).json), `seed ${seed}`);
    }
  });

  it("says the same of two documents that have the same ids for different products", async () => {
    const vulnerability = { cve: "CVE-2030-1", product_status: { known_affected: ["p"] } };
    const [first, second] = ["a", "b"].map((name) =>
      csaf([vulnerability], { full_product_names: [product("p", `pkg:npm/${name}`)] }),
    );
    const { document } = await write(advisoriesOf([...read(first).records, ...read(second).records]));
    const purls = document.product_tree.full_product_names.map((each: Json) => each.product_identification_helper.purl);
    assert.deepEqual(purls.sort(), ["pkg:npm/a", "pkg:npm/b"]);
    assert.equal(document.vulnerabilities.length, 1);
    assert.equal(document.vulnerabilities[0].product_status.known_affected.length, 2);
  });
});

/** Returns the statements of each vulnerability, without order and without the numbers by which `extra` shortens products. */
function statementsOf(records: readonly Json[]): Json {
  const sortedOf = (list: Json[] = []) => list.map((item) => canonicalJson(item)).sort();
  const texts = records.map(({ statements }) =>
    sortedOf(
      statements?.map(({ extra: _, subcomponents, versions, ranges, severities, action = "", ...rest }: Json) => {
        const lists = [subcomponents, versions, ranges, severities, action.split("\n")].map(sortedOf);
        return { ...rest, lists };
      }),
    ),
  );
  return sortedOf(texts.filter((list) => list.length > 0));
}
