import type { NewRecordRow } from "../../../src/storage/vulnerabilities/records.ts";

/** Returns the row of a record, made up from a number. */
export function recordRow(parent: string, i: number, size: number): NewRecordRow {
  return {
    parent,
    source: "Team",
    document: "document",
    vulnerability: `GO-${i}`,
    format: 1,
    digest: "digest",
    publishTime: null,
    modifyTime: null,
    withdrawTime: null,
    modifyNanos: 0,
    revision: 1,
    createTime: 0,
    updateTime: 0,
    advisoryUids: [],
    size,
    record: {},
  };
}
