// Reads CSAF documents in tests. All of them are made up.
import { toJson } from "@bufbuild/protobuf";
import { type AdvisoryRecord, AdvisoryRecordSchema } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { readCsaf } from "../../../src/advisories/csaf/read.ts";

// biome-ignore lint/suspicious/noExplicitAny: what they hold is what the tests are about
export type Json = any;

/** Returns a document with these vulnerabilities and this product tree. */
export function csaf(vulnerabilities: readonly Json[], tree: Json = {}, head: Json = {}): Json {
  return {
    document: {
      category: "csaf_vex",
      csaf_version: "2.0",
      title: "T",
      publisher: { category: "vendor", name: "Vendor", namespace: "https://vendor.example" },
      tracking: {
        id: "V-1",
        status: "final",
        version: "3",
        initial_release_date: "2030-01-01T00:00:00Z",
        current_release_date: "2030-02-01T00:00:00Z",
        revision_history: [],
      },
      ...head,
    },
    product_tree: tree,
    vulnerabilities,
  };
}

/** Returns a product with this package URL or, for an object, with these helpers. */
export function product(id: string, helper: string | Json = {}, name = `Product ${id}`): Json {
  const helpers = typeof helper === "string" ? { purl: helper } : helper;
  return {
    product_id: id,
    name,
    ...(Object.keys(helpers).length > 0 ? { product_identification_helper: helpers } : {}),
  };
}

/** Reads a document, and returns its records, as messages and as JSON, and its problems. */
export function read(document: Json): { records: AdvisoryRecord[]; json: Json[]; problems: string[] } {
  const items = [...readCsaf(document, { source: "" }).items];
  const records = items.flatMap(({ record }) => record ?? []);
  const problems = items.flatMap((item) =>
    item.problems.map(({ path, rule }) => `${item.name}: ${path === "" ? "" : `${path} `}${rule}`),
  );
  return { records, json: records.map((record) => toJson(AdvisoryRecordSchema, record)), problems };
}

/** Returns the statements of the only vulnerability, without `extra`. */
export function statementsOf(vulnerability: Json, tree: Json): Json[] {
  const { json } = read(csaf([{ cve: "CVE-2030-1", ...vulnerability }], tree));
  return (json[0]?.statements ?? []).map(({ extra: _, ...statement }: Json) => statement);
}
