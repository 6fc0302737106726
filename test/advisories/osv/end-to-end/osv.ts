// `npm run suites -- osv`: records of every ecosystem and shape against the JSON Schema that OSV publishes. Not a part of `npm test`, since
// the schema is fetched.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, fromJson } from "@bufbuild/protobuf";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import {
  type AdvisoryStatements,
  AdvisoryStatementsSchema,
  RecordFormat,
} from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { ecosystems } from "../../../../src/advisories/ecosystems.ts";
import { canonicalJson } from "../../../../src/advisories/extra.ts";
import { databases, recordId, referenceTypes, schemaVersion } from "../../../../src/advisories/osv/names.ts";
import { readOsv } from "../../../../src/advisories/osv/read.ts";
import { osvRecordsOf } from "../../../../src/advisories/osv/write.ts";
import { generatedRecords, type Json } from "../generated.ts";
import { osvSchema } from "../schema.ts";
import { publishedSchema } from "./published-schema.ts";

const schema: Json = await publishedSchema().catch((error: Error) => {
  console.error(`suite osv: ${error.message}`);
  process.exit(1);
});
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
const validate: ValidateFunction = ajv.compile(schema);
const validateByOurs: ValidateFunction = ajv.compile(osvSchema);

/** Fails with what the schema says of the record. */
function assertValid(written: Json): void {
  assert.ok(validate(written), JSON.stringify([written, validate.errors]));
}

async function exported(advisories: readonly AdvisoryStatements[]): Promise<Json[]> {
  const options = { id: "g", author: "a", ecosystem: "Alpine:v3.22", time: 0 };
  async function* all() {
    yield* advisories;
  }
  const records: Json[] = [];
  for await (const record of osvRecordsOf(all(), options, { add: () => {} })) records.push(record);
  return records;
}

/** Advisories as the server gives them: each generated record with the advisory of its id. */
function advisoriesOf(documents: readonly Json[], format: RecordFormat): AdvisoryStatements[] {
  return [...readOsv(documents, { source: "" }).items].map(({ record }) => {
    assert.ok(record);
    const { advisoryId } = record;
    const advisory = { advisoryId, aliases: ["CVE-2030-1"] };
    return create(AdvisoryStatementsSchema, { advisory, records: [{ ...record, format }] });
  });
}

const documents = generatedRecords(11, 3000);
const known = documents.filter(({ id }) => !id.startsWith("ACME-"));

describe("exported OSV records", () => {
  it("valid records from OSV are exported unchanged and valid", async () => {
    const records = await exported(advisoriesOf(known, RecordFormat.OSV));
    assert.equal(records.length, known.length);
    for (const [i, record] of records.entries()) {
      assertValid(known[i]);
      assertValid(record);
      assert.equal(canonicalJson(record), canonicalJson(known[i]));
    }
  });

  it("records from other formats are exported as valid OSV, for any database", async () => {
    const live = documents.filter(({ withdrawn }) => !withdrawn);
    const records = await exported(advisoriesOf(live, RecordFormat.CSAF));
    for (const record of records) assertValid(record);
    assert.ok(records.length > live.length / 2);
    assert.ok(records.some(({ id }) => id.startsWith("x_ACME-")));
  });

  it("are valid without an ecosystem, severity, reference or range that OSV allows", async () => {
    const statement = { status: "PRODUCT_STATUS_AFFECTED", product: { purl: "pkg:apk/lib%2B" } };
    const said = [
      {
        ranges: [
          { type: "GIT", repo: "https://example.test", events: [{ type: "RANGE_EVENT_TYPE_FIXED", version: "abc" }] },
        ],
      },
      { ranges: [{ type: "vers", events: [{ type: "RANGE_EVENT_TYPE_LIMIT", version: "2" }] }] },
      { product: { purl: "pkg:oci/x" } },
      { product: { ecosystem: "constructor", name: "x" } },
      { release: "x" },
    ];
    const record = {
      source: "s",
      document: "d",
      vulnerability: "CVE-1",
      format: "RECORD_FORMAT_CSAF",
      severities: [
        { type: "CVSS_V3", score: "CVSS:3.1/AV:N" },
        { type: "Ubuntu", score: "so" },
      ],
      references: [
        { type: "self", url: "none" },
        { type: "self", url: "https://example.test" },
      ],
    };
    const advisories = said.map((each, i) =>
      fromJson(AdvisoryStatementsSchema, {
        advisory: { advisoryId: `no/data~base:${i}` },
        records: [{ ...record, statements: [{ ...statement, ...each }] } as Json],
      }),
    );
    const records = await exported(advisories);
    for (const each of records) assertValid(each);
    assert.deepEqual(
      records.map(({ id }) => id),
      ["x_no/data~base:1", "x_no/data~base:4"],
    );
  });

  it("broken records are rejected by the published schema and by that of our tests", () => {
    const whole = known.find(({ affected, severity }) => affected?.[0].ranges && affected[0].package && severity);
    const breaks: readonly ((broken: Json) => void)[] = [
      (broken) => delete broken.modified,
      (broken) => (broken.id = "ACME-1"),
      (broken) => (broken.modified = "2030-01-01"),
      (broken) => (broken.severity = [{ type: "CVSS_V3", score: "CVSS:3.1/AV:Z" }]),
      (broken) => (broken.affected[0].severity = broken.severity),
      (broken) => (broken.affected[0].package.ecosystem = "wolfi"),
      (broken) => (broken.affected[0].ranges[0].type = "APK"),
      (broken) => (broken.affected[0].ranges[0].events = [{ fixed: "1" }]),
      (broken) => broken.affected[0].ranges[0].events.push({ fixed: "1" }, { last_affected: "2" }),
      (broken) => (broken.references = [{ type: "self", url: "https://example.test" }]),
    ];
    for (const spoil of breaks) {
      const broken = structuredClone(whole);
      spoil(broken);
      assert.deepEqual([validate(broken), validateByOurs(broken)], [false, false], String(spoil));
    }
  });
});

describe("the names of OSV", () => {
  it("ecosystems, types of references and the version are those of the schema", () => {
    assert.deepEqual([...ecosystems].sort(), [...schema.$defs.ecosystemName.enum].sort());
    assert.deepEqual([...referenceTypes].sort(), [...schema.properties.references.items.properties.type.enum].sort());
    assert.match(schemaVersion, /^1\.\d+\.\d+$/);
  });

  it("the prefixes of ids are those of the schema", () => {
    const [, prefixes = ""] = /^\^\(x_\|\((.*)\)-\)$/.exec(schema.$defs.prefix.pattern) ?? [];
    const written = prefixes.split("|").flatMap((name) => {
      const [, before, letters, behind] = /^(.*)\[(.*)\](.*)$/.exec(name) ?? [];
      return letters === undefined ? [name] : [...letters].map((letter) => before + letter + behind);
    });
    assert.deepEqual([...databases].sort(), written.sort());
    for (const name of databases) assert.equal(recordId(`${name}-1`), `${name}-1`);
  });
});
