// A data directory of a development server with advisories, kept between runs, and what they can be asked for.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Advisory } from "../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { insertAdvisory } from "../src/services/vulnerabilities/advisories/insert-advisory.ts";
import { openDatabase } from "../src/storage/database.ts";
import { defaultDatabaseLimits } from "../src/storage/engine/dialect.ts";
import { populateAdvisories } from "./advisory-population.ts";
import { commonTexts, rareTexts } from "./advisory-texts.ts";
import { type Data, type DataStore, prepareDataAt } from "./data.ts";
import { newRandom } from "./random.ts";

/** How many advisories there are. */
const advisoryCount = 30_000;

/** Groups in addition to the advisories. */
const groups = 1000;
const atOnce = 500;

/** The source files that determine the advisories and the queries: if one changes, the data is generated again. */
const sources = [
  "advisory-data.ts",
  "advisory-population.ts",
  "advisory-texts.ts",
  "../src/storage/vulnerabilities/advisory-terms.ts",
];

/** Every how many advisories one is remembered to be asked for. */
const sampleEvery = 150;

/** A data directory with advisories. */
export interface AdvisoryData extends Data {
  /** Queries of lists by the filter that they use; each has several, with different values. */
  readonly queries: Readonly<Record<string, readonly string[]>>;
}

/** Returns the data directory; generated when it is not there. */
export async function prepareAdvisories(store: DataStore): Promise<AdvisoryData> {
  const data = await prepareDataAt("advisories", groups, store, sources);
  const file = path.join(data.directory, "queries.json");
  if (!existsSync(file)) {
    // A directory left by an interrupted run would be in the way.
    rmSync(data.directory, { recursive: true, force: true });
    await prepareDataAt("advisories", groups, store, sources);
    store.report(`generating ${advisoryCount} advisories in ${data.directory}`);
    writeFileSync(file, JSON.stringify(await fill(data)));
  }
  return { ...data, queries: JSON.parse(readFileSync(file, "utf8")) };
}

async function fill({ directory, landmarks }: Data): Promise<Record<string, string[]>> {
  const database = await openDatabase(path.join(directory, "gatehouse.db"), defaultDatabaseLimits);
  const advisories = [...populateAdvisories(newRandom("advisories"), advisoryCount)];
  const context = { actor: "", method: "benchmark", requestId: "", time: Date.now() };
  for (let i = 0; i < advisories.length; i += atOnce) {
    await database.write(context, async (tx) => {
      for (const each of advisories.slice(i, i + atOnce)) await insertAdvisory(tx, landmarks.groupUid, each);
    });
  }
  await database.close();
  return Object.fromEntries(
    Object.entries(valuesOf(advisories)).map(([name, values]) => {
      // "query, few" and the like are filters named query.
      const filter = name.split(",")[0];
      const queries = [...new Set(values)].filter((value) => value !== "");
      return [name, queries.map((value) => `${filter}=${encodeURIComponent(value)}`)];
    }),
  );
}

/** Returns the values to filter by, of a sample of the advisories. */
function valuesOf(advisories: readonly Advisory[]): Record<string, readonly string[]> {
  const samples = advisories.filter((_, i) => i % sampleEvery === 0);
  const events = samples.flatMap((each) => each.events);
  const names = samples.map(({ artifactName }) => artifactName);
  const authors = events.map(({ author }) => author);
  return {
    advisory_ids: samples.map(({ advisoryId }) => advisoryId),
    legacy_advisory_ids: samples.map(({ legacyAdvisoryId = "" }) => legacyAdvisoryId),
    artifact_names: names,
    artifact_types: ["apk"],
    artifact_architectures: ["x86_64", "aarch64"],
    component_names: samples.map(({ componentName }) => componentName),
    component_types: samples.map(({ componentType }) => componentType),
    component_locations: samples.map(({ componentLocation }) => componentLocation),
    aliases: samples.flatMap(({ aliases }) => aliases),
    origin: names,
    event_authors: authors,
    event_reviewers: events.map(({ reviewer }) => reviewer),
    event_review_states: ["REVIEW_STATE_APPROVED", "REVIEW_STATE_PENDING"],
    event_types: ["EVENT_TYPE_FILTER_FIXED", "EVENT_TYPE_FILTER_FIX_NOT_PLANNED"],
    exclude_event_authors: authors,
    latest_event_type: ["EVENT_TYPE_FILTER_FIXED", "EVENT_TYPE_FILTER_DETECTION"],
    "query, few": names.slice(0, 20).map((name) => name.slice(-7)),
    "query, many": ["cve-202", "CEDAR", "apk", "example.test", "-2", "GHSA"],
    "query, few, each new": rareTexts(advisories),
    "query, many, each new": commonTexts(advisories),
  };
}
