// An organization with very many people and advisories, for tests of the console on real rows.
import path from "node:path";
import { insertAdvisory } from "../src/services/vulnerabilities/advisories/insert-advisory.ts";
import { openDatabase } from "../src/storage/database.ts";
import { defaultDatabaseLimits } from "../src/storage/engine/dialect.ts";
import { generate } from "./generate.ts";
import type { Landmarks } from "./population.ts";
import { populateScored } from "./scored-advisories.ts";

/** How many there are. */
export interface LargeSizes {
  readonly people: number;
  readonly advisories: number;
}

const groups = 1000;
const atOnce = 500;

/** Writes a SQLite file into a directory that has none yet. */
export async function generateLargeOrganization(dataDir: string, sizes: LargeSizes): Promise<Landmarks> {
  const landmarks = await generate(dataDir, { groups, seed: "gatehouse", people: sizes.people }, () => {});
  const database = await openDatabase(path.join(dataDir, "gatehouse.db"), defaultDatabaseLimits);
  try {
    const context = { actor: "", method: "benchmark", requestId: "", time: Date.now() };
    const advisories = [...populateScored(sizes.advisories)];
    for (let i = 0; i < advisories.length; i += atOnce)
      await database.write(context, async (tx) => {
        for (const each of advisories.slice(i, i + atOnce)) await insertAdvisory(tx, landmarks.groupUid, each);
      });
  } finally {
    await database.close();
  }
  return landmarks;
}
