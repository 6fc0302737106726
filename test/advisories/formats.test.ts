// Tests how the format of a document is recognized.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RecordFormat } from "../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { parseText } from "../../src/advisories/document-text.ts";
import { type FormatName, formatNames, readDocument } from "../../src/advisories/formats.ts";
import { csaf, record, secdb, vex, yaml } from "../cli/advisories/samples.ts";

const documents: Readonly<Record<FormatName, readonly [document: unknown, format: RecordFormat, records: number]>> = {
  osv: [[record(1), record(2)], RecordFormat.OSV, 2],
  secdb: [secdb, RecordFormat.SECDB, 4],
  openvex: [vex, RecordFormat.OPENVEX, 3],
  csaf: [csaf, RecordFormat.CSAF, 2],
  yaml: [parseText(yaml, "yaml"), RecordFormat.YAML, 2],
};

const read = (document: unknown, name: FormatName | "auto", source = "") =>
  [...readDocument(document, name, { source }).items].map((item) => item.record);

describe("the format of a document", () => {
  for (const name of formatNames) {
    const [document, format, count] = documents[name];
    it(`${name} is recognized, and read as what it is`, () => {
      for (const asked of ["auto", name] as const) {
        const records = read(document, asked);
        assert.deepEqual(
          records.map((each) => each?.format),
          Array(count).fill(format),
        );
      }
    });

    it(`${name} is not read as another format`, () => {
      for (const other of formatNames.filter((each) => each !== name))
        assert.throws(() => read(document, other), { name: "BadDocument", message: `is not ${other}` });
    });

    it(`${name}: the option for the source replaces the author of the document`, () => {
      assert.deepEqual(new Set(read(document, "auto", "Team").map((each) => each?.source)), new Set(["Team"]));
    });
  }

  for (const document of [null, 7, "x", {}, { packages: {} }, { advisories: [] }, [[]], [7]]) {
    it(`a document in no known format is rejected: ${JSON.stringify(document)}`, () =>
      assert.throws(() => read(document, "auto"), {
        name: "BadDocument",
        message: "is in none of the formats osv, secdb, openvex, csaf, yaml",
      }));
  }
});
