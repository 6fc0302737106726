// Measures the parts of a request without a network: a program of its own, which takes a data directory and prints JSON.
import path from "node:path";
import { fileURLToPath } from "node:url";
import BetterSqlite from "better-sqlite3";
import { Capability } from "../gen/chainguard/capabilities/capabilities_pb.ts";
import { Access } from "../src/authz/access.ts";
import { capabilitySet } from "../src/model/capabilities.ts";
import { newRoot } from "../src/model/uid.ts";
import { findRow } from "../src/storage/collection/rows.ts";
import { type Database, openDatabase } from "../src/storage/database.ts";
import { defaultDatabaseLimits } from "../src/storage/engine/dialect.ts";
import { groupCollection } from "../src/storage/iam/collections.ts";
import { countRows, type ListQuery, listRows, prepareSkip, type SortField } from "../src/storage/list/list-rows.ts";
import { newOffsetIndex } from "../src/storage/list/offset-index.ts";
import { type MicroRow, measureMicros, type Operation } from "./micro.ts";
import { issueOwnerToken } from "./owner-token.ts";
import type { Landmarks } from "./population.ts";

/** The operation that stands for 1.00. */
const baseline = "point read, driver alone";
const issuer = "https://benchmark.example.org";

/** Measures everything on one data directory. */
async function measureParts(directory: string, landmarks: Landmarks): Promise<MicroRow[]> {
  const file = path.join(directory, "gatehouse.db");
  const database = await openDatabase(file, defaultDatabaseLimits);
  const driver = new BetterSqlite(file, { readonly: true });
  try {
    const operations = [
      driverRead(driver, landmarks),
      ...(await storageOperations(database, landmarks)),
      ...(await warmToken(database, directory, landmarks)),
      authorization(landmarks),
    ];
    return await measureMicros(operations, baseline);
  } finally {
    driver.close();
    await database.close();
  }
}

function driverRead(driver: BetterSqlite.Database, { sampleUids }: Landmarks): Operation {
  const statement = driver.prepare("SELECT * FROM groups WHERE uid = ?").raw();
  let at = 0;
  return { name: baseline, run: () => void statement.get(sampleUids[at++ % sampleUids.length]) };
}

async function storageOperations({ session, read }: Database, landmarks: Landmarks): Promise<Operation[]> {
  const { sampleUids, groupUid, groups } = landmarks;
  const sources = [{ type: "subtree", uid: groupUid } as const];
  const query = (field: SortField, skip: number): ListQuery => ({
    sources,
    filters: {},
    order: { field, descending: false },
    after: undefined,
    skip,
    limit: 51,
  });
  const page = (field: SortField, skip: number) => listRows(session, groupCollection, query(field, skip), offsets.find);
  const offsets = newOffsetIndex(read);
  const deep = Math.floor(groups * 0.8);
  for (const field of ["uid", "name"] as const) await prepareSkip(offsets, groupCollection, query(field, deep));
  let at = 0;
  return [
    { name: "point read", run: () => findRow(session, groupCollection, sampleUids[at++ % sampleUids.length]!) },
    { name: "totalCount", run: () => countRows(session, groupCollection, { sources, filters: {} }) },
    { name: "page of 50 by uid", run: () => page("uid", 0) },
    { name: "page of 50 by name", run: () => page("name", 0) },
    { name: "skip 80 % by uid", run: () => page("uid", deep) },
    { name: "skip 80 % by name", run: () => page("name", deep) },
  ];
}

async function warmToken(database: Database, dataDir: string, landmarks: Landmarks): Promise<Operation[]> {
  const { tokens, token } = await issueOwnerToken(database, dataDir, landmarks, issuer);
  await tokens.verify(token);
  const header = Buffer.from(token);
  const connection = {};
  // A fresh string each time, as a request brings one: its hash is not known yet.
  const sent = () => header.toString("latin1");
  return [
    { name: "authenticate, warm token", run: () => void tokens.cached(sent(), connection) },
    { name: "authenticate, warm token, first on a connection", run: () => void tokens.cached(sent()) },
  ];
}

/** The worst case: many grants, and the only one that counts is at the group itself. */
function authorization({ deepUid }: Landmarks): Operation {
  const held = capabilitySet([Capability.CAP_IAM_GROUPS_LIST]);
  const grants = new Map(Array.from({ length: 50 }, () => [newRoot(), held]));
  grants.set(deepUid, held);
  const access = new Access(grants, {});
  return {
    name: "authorize at depth 8",
    run() {
      if (!access.has(Capability.CAP_IAM_GROUPS_LIST, deepUid)) throw new Error("the grant was not found");
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [directory = "", landmarks = ""] = process.argv.slice(2);
  console.log(JSON.stringify(await measureParts(directory, JSON.parse(landmarks))));
}
