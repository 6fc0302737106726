// Exports as the library of the OpenVEX project reads them. Not a part of `npm test`: it needs Go and the Go module proxy.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { canonicalJson } from "../../../../src/advisories/extra.ts";
import { effectiveByGoVex, missingGoVex } from "../../go-vex/run.ts";
import { type Json, read, write } from "../exchange.ts";
import { generatedDocument, generatedPair } from "../generated.ts";

const seeds = Array.from({ length: 50 }, (_, i) => i + 1);

describe("OpenVEX exports, read by go-vex", { skip: missingGoVex() ?? false }, () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "gatehouse-go-vex-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Returns the documents as files. */
  function files(name: string, documents: readonly Json[]): string[] {
    return documents.map((document, i) => {
      const file = path.join(folder, `${name}-${i}.json`);
      writeFileSync(file, JSON.stringify(document));
      return file;
    });
  }

  async function exported(documents: readonly Json[]): Promise<Json> {
    return (await write(documents.flatMap((document) => read(document).records))).document;
  }

  it("every statement is valid", async () => {
    const documents = await Promise.all(
      seeds.flatMap((seed) => [[generatedDocument(seed)], generatedPair(seed)]).map(exported),
    );
    assert.ok((await effectiveByGoVex(files("valid", documents))).length > 0);
  });

  it("the statements that are effective are those of the document that was imported", async () => {
    // Each document speaks of a vulnerability of its own, so all of them can be merged.
    const documents = seeds.map((seed) => {
      const [vex] = generatedPair(seed);
      for (const statement of vex.statements) statement.vulnerability = { name: `CVE-2030-${seed}` };
      return vex;
    });
    const before = await effectiveByGoVex(files("before", documents), "-unchecked");
    const after = await effectiveByGoVex(files("after", [await exported(documents)]));
    const lines = (found: readonly object[]) => found.map((each) => canonicalJson(each)).sort();
    assert.deepEqual(lines(after), lines(before));
  });
});
