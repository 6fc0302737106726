// Documents of different formats and sources that speak of one package, exported in every format: no version becomes better or worse
// by it, and an answer to a query is what the sources say.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import {
  type AdvisoryRecord,
  AdvisoryRecordSchema,
  type AdvisoryStatements,
  AdvisoryStatementsSchema,
  ProductStatus,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { deriveAdvisory } from "../../../src/advisories/derive/derive.ts";
import { partKey, partsOf } from "../../../src/advisories/derive/parts.ts";
import type { ExportFormat } from "../../../src/advisories/exported.ts";
import { readDocument } from "../../../src/advisories/formats.ts";
import { evaluate } from "../../../src/advisories/queries/evaluate.ts";
import { type QueriedPackage, readPackage } from "../../../src/advisories/queries/package.ts";
import { writerOf } from "../../../src/advisories/writers.ts";
import { newDraws } from "../osv/generated.ts";
import {
  csafOf,
  generateSaying,
  type Level,
  levels,
  openvexOf,
  purlOf,
  type Saying,
  versions,
  worstOf,
} from "./documents.ts";
import { readers } from "./exports.ts";

const limits = { events: 1000, items: 1000 };

/** Returns the advisories of documents, as the service lists them. */
function advisoriesOf(sayings: readonly Saying[]): AdvisoryStatements[] {
  const records = sayings.flatMap(({ json, source }) =>
    [...readDocument(json, "auto", { source }).items].map(({ record, problems }): AdvisoryRecord => {
      assert.deepEqual(problems, []);
      return record!;
    }),
  );
  const said = records.flatMap((record) =>
    partsOf(record).map((part) => ({ record, part, createTime: 1, importTime: 1 })),
  );
  return [...Map.groupBy(said, ({ part }) => partKey(part)).values()]
    .map((parts) => {
      const { advisoryId } = parts[0]!.part;
      const { aliases } = deriveAdvisory(parts[0]!.part, parts, limits);
      const own = parts.map(({ record, part }) =>
        create(AdvisoryRecordSchema, {
          ...record,
          statements: part.statements.map((statement) => ({ ...statement, advisoryId })),
        }),
      );
      return create(AdvisoryStatementsSchema, { advisory: { advisoryId, aliases }, records: own });
    })
    .sort((a, b) => (a.advisory!.advisoryId < b.advisory!.advisoryId ? -1 : 1));
}

async function exportOf(advisories: readonly AdvisoryStatements[], format: ExportFormat) {
  const options = { id: "g", author: "Exporter", ecosystem: "Wolfi", time: Date.UTC(2031, 0, 1) };
  const listed = {
    [Symbol.asyncIterator]: async function* () {
      yield* advisories;
    },
  };
  let text = "";
  for await (const part of writerOf(format)(listed, options, { add: () => {} })) text += part;
  return JSON.parse(text);
}

const levelOf: ReadonlyMap<ProductStatus, Level> = new Map([
  [ProductStatus.NOT_AFFECTED, levels[0]],
  [ProductStatus.FIXED, levels[1]],
  [ProductStatus.UNDER_INVESTIGATION, levels[2]],
  [ProductStatus.AFFECTED, levels[3]],
]);

function answerTo(advisories: readonly AdvisoryStatements[], version: number): Level | undefined {
  const asked = readPackage({ purl: purlOf(version), ecosystem: "", name: "", version: "" }) as QueriedPackage;
  return worstOf(advisories.map((each) => levelOf.get(evaluate(each, asked)?.status ?? 0)));
}

describe("what several sources say of a package in different formats", () => {
  const cases = Array.from({ length: 300 }, (_, seed) => {
    const draws = newDraws(seed);
    const sayings = Array.from({ length: 1 + draws.below(3) }, (_, i) => generateSaying(draws, i));
    return { seed, sayings, advisories: advisoriesOf(sayings) };
  });
  const dueAt = (sayings: readonly Saying[], version: number) => worstOf(sayings.map((each) => each.at(version)));
  const isBad = (level: Level | undefined) => level === "affected" || level === "under investigation";

  it("a query returns the worst of statements that differ", () => {
    for (const { seed, sayings, advisories } of cases)
      for (const version of versions)
        assert.equal(answerTo(advisories, version), dueAt(sayings, version), `seed ${seed}, version ${version}`);
  });

  for (const format of ["osv", "secdb", "csaf"] as const) {
    it(`an export as ${format} calls no version better than the sources do`, async () => {
      for (const { seed, sayings, advisories } of cases) {
        const document = await exportOf(advisories, format);
        for (const version of versions) {
          const [found, due] = [readers[format]!(document, version), dueAt(sayings, version)];
          // OSV and secdb have no word for what is not known yet: it hides no fix.
          const isBetter =
            found !== undefined && !isBad(found) && (format === "csaf" ? isBad(due) : due === "affected");
          assert.ok(!isBetter, `seed ${seed}, version ${version}: ${found}, not ${due}`);
        }
      }
    });
  }

  it("an export as csaf calls no version worse than the sources do", async () => {
    for (const { seed, sayings, advisories } of cases) {
      const document = await exportOf(advisories, "csaf");
      for (const version of versions) {
        const [found, due] = [readers.csaf!(document, version), dueAt(sayings, version)];
        assert.ok(found !== "affected" || due === "affected", `seed ${seed}, version ${version}: ${found}, not ${due}`);
      }
    }
  });

  it("an export as openvex calls no version better or worse than the sources do", async () => {
    for (const { seed, sayings, advisories } of cases) {
      const document = await exportOf(advisories, "openvex");
      for (const version of versions) {
        const [found, due] = [readers.openvex!(document, version), dueAt(sayings, version)];
        const isOther = found !== undefined && (isBad(found) || isBad(due)) && found !== due;
        assert.ok(!isOther, `seed ${seed}, version ${version}: ${found}, not ${due}`);
      }
    }
  });
});

describe("a statement that its source has superseded", () => {
  const exportsOf = async (sayings: readonly Saying[], version: number) => {
    const advisories = advisoriesOf(sayings);
    const formats = ["osv", "openvex", "csaf", "secdb"] as const;
    return await Promise.all(formats.map(async (each) => readers[each]!(await exportOf(advisories, each), version)));
  };

  it("no export has a superseded statement", async () => {
    const said = (day: number, level: Level): Saying =>
      openvexOf(`2030-01-0${day}T00:00:00Z`, day, new Map([[3, level]]));
    assert.deepEqual(
      await exportsOf([said(1, "affected"), said(2, "fixed")].map(ofOneSource), 3),
      Array(4).fill("fixed"),
    );
  });

  it("is superseded by the document that was changed later, whichever was published first", async () => {
    const said = (published: number, changed: number, level: Level) => {
      const time = (day: number) => `2030-01-0${day}T00:00:00Z`;
      return csafOf([time(published), time(changed)], published, [{ id: "P", level, from: 3, to: undefined }]);
    };
    const [osv, openvex, csaf, secdb] = await exportsOf(
      [said(1, 8, "affected"), said(2, 5, "fixed")].map(ofOneSource),
      3,
    );
    assert.deepEqual([osv, openvex, csaf, secdb], ["affected", "affected", "affected", undefined]);
  });
});

function ofOneSource(saying: Saying): Saying {
  return { ...saying, source: "vendor" };
}
