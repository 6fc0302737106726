// Compares packages of images with advisories. The result depends on one advisory and one package URL alone, so it is stored for that pair.
import { type AdvisoryStatements, ProductStatus } from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { type Answer, evaluate } from "../../../advisories/queries/evaluate.ts";
import { type QueriedPackage, readPackage } from "../../../advisories/queries/package.ts";
import { measureWork, nextSlice } from "../../../base/slices.ts";
import { parentOf, rootOf } from "../../../model/uid.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Database } from "../../../storage/database.ts";
import type { Session, Transaction, WriteContext } from "../../../storage/engine/session.ts";
import { compareAndSetSetting, getOrSetSetting, readSetting } from "../../../storage/engine/settings.ts";
import {
  clearEvaluators,
  deleteFinding,
  type FindingRow,
  findAdvisoriesOf,
  findPackagesFor,
  findStatuses,
  findUnevaluated,
  putFinding,
  setEvaluator,
} from "../../../storage/images/findings.ts";
import { keepPackages, type PackageRow } from "../../../storage/images/packages.ts";
import { findDeletedAdvisory } from "../../../storage/vulnerabilities/advisories.ts";
import { type AdvisoryRow, advisoryCollection } from "../../../storage/vulnerabilities/rows.ts";
import { vulnerabilityOf } from "../../vulnerabilities/queries/affected-query.ts";
import { newBudget, searchPackage } from "../../vulnerabilities/queries/package-search.ts";
import { readStatements } from "../../vulnerabilities/records/advisory-statements.ts";
import { rowOfDeleted } from "../../vulnerabilities/records/located-advisories.ts";
import { evaluatorVersion } from "./evaluator-version.ts";
import { type EventQuota, logFindingChanges } from "./finding-events.ts";
import { changesAfter, positionSetting, readPositions } from "./followed-changes.ts";
import { type NameSettings, newOverrides, statementsOn } from "./image-statements.ts";
import { contentLimits } from "./limits.ts";
import { keyNumber } from "./package-keys.ts";

/** Dependencies of the evaluation. */
export interface EvaluationContext {
  readonly database: Database;
  readonly newWrite: () => WriteContext;
  readonly settings: NameSettings;
  readonly quota: EventQuota;
  readonly counts: EvaluationCounts;
}

/** Counts comparisons of a package: with all advisories, because the package was due, and with an advisory that changed. */
export type EvaluationCounts = Record<"package" | "advisory", number>;

/** Returns whether there may be something to do. Costs two reads. */
export async function hasEvaluationDue({ session }: Pick<Database, "session">): Promise<boolean> {
  const { stored, last } = await readPositions(session);
  if (stored !== String(last)) return true;
  return (await findUnevaluated(session, evaluatorVersion, 1)).length > 0;
}

/**
 * Does a part of the work. Returns whether there may be more.
 *
 * It is a measured computation: SQLite then reads in a thread. In a snapshot that is open between two slices of this one, all other reads
 * would miss new writes.
 */
export async function evaluateNext(context: EvaluationContext): Promise<boolean> {
  return await measureWork(undefined, async () => {
    if (await followAdvisories(context)) return true;
    const due = await findUnevaluated(context.database.session, evaluatorVersion, contentLimits.evaluatedPackages);
    if (due.length === 0) return false;
    await evaluatePackages(context, due);
    return true;
  });
}

/** Compares packages with all advisories of their organizations. Stores what was found before the findings of one write are too many. */
async function evaluatePackages(
  { database, newWrite, counts }: EvaluationContext,
  packages: readonly PackageRow[],
): Promise<void> {
  const position = await readSetting(database.session, positionSetting);
  const compared: ComparedPackage[] = [];
  let count = 0;
  for (const due of packages) {
    counts.package += 1;
    const asked = askedOf(due);
    const findings = asked ? await searchFindings(database, asked, due) : [];
    compared.push({ no: due.no, findings });
    count += findings.length;
    if (count >= contentLimits.writtenFindings) break;
  }
  // Other writes lock packages in the order of their numbers, too.
  compared.sort((a, b) => a.no - b.no);
  await database.write(newWrite(), async (tx) => {
    // A server that stood still may have lost its lease: another one has followed changes that were not seen here.
    if ((await readSetting(tx, positionSetting)) !== position) return;
    for (const each of compared) await replaceFindings(tx, each);
  });
}

/** A package and all its findings. */
interface ComparedPackage {
  readonly no: number;
  readonly findings: readonly NewFinding[];
}

async function replaceFindings(tx: Transaction, { no, findings }: ComparedPackage): Promise<void> {
  // Locks the package: the sweeper may delete it.
  if (!(await setEvaluator(tx, no, evaluatorVersion))) return;
  const found = new Set(findings.map(({ advisoryUid }) => advisoryUid));
  for (const uid of await findAdvisoriesOf(tx, no)) if (!found.has(uid)) await deleteFinding(tx, no, uid);
  for (const finding of findings) await putFinding(tx, { ...finding, firstKnownTime: tx.context.time });
}

type NewFinding = Omit<FindingRow, "firstKnownTime">;

async function searchFindings(database: Database, asked: QueriedPackage, due: PackageRow): Promise<NewFinding[]> {
  const sources = [{ type: "subtree", uid: due.organization } as const];
  const found: NewFinding[] = [];
  let after: Parameters<typeof searchPackage>[0]["after"];
  do {
    const search = { database, sources, asked, after };
    const page = await searchPackage(search, contentLimits.portion, newBudget(), ({ row, answer }) => [
      findingOf(due.no, row, answer),
    ]);
    found.push(...page.items);
    after = page.next;
  } while (after);
  return found;
}

/** Compares the packages that changed advisories are about. Returns whether there were changes. */
async function followAdvisories(context: EvaluationContext): Promise<boolean> {
  const { database, newWrite } = context;
  const { session } = database;
  const { stored, last } = await readPositions(session);
  if (stored === undefined) {
    // Packages are compared with all advisories that there are.
    await database.write(newWrite(), (tx) => getOrSetSetting(tx, positionSetting, String(last)));
    return true;
  }
  if (Number(stored) === last) return false;
  const changes = await changesAfter(session, Number(stored));
  if (!changes?.length) return await startAgain(context, stored, last);
  for (const uid of new Set(changes.map((change) => change.uid))) await reevaluate(context, uid);
  const position = String(changes.at(-1)!.sequence);
  await database.write(newWrite(), async (tx) => {
    const isSet = await compareAndSetSetting(tx, positionSetting, stored, position);
    // Retention may have deleted changes before the first one that is left.
    if (isSet && Number(stored) === 0) await clearEvaluators(tx);
  });
  return true;
}

async function startAgain({ database, newWrite }: EvaluationContext, stored: string, last: number): Promise<boolean> {
  await database.write(newWrite(), async (tx) => {
    if (await compareAndSetSetting(tx, positionSetting, stored, String(last))) await clearEvaluators(tx);
  });
  return true;
}

/** Compares all packages that an advisory is or was about with its current state. */
async function reevaluate(context: EvaluationContext, advisoryUid: string): Promise<void> {
  const { database, counts } = context;
  const changed = await database.read((session) => readAdvisory(session, advisoryUid));
  const { row, statements } = changed;
  const organization = rootOf(advisoryUid);
  const keys = (row?.lookUpKeys ?? []).map((key) => keyNumber(organization, key));
  let after = 0;
  for (;;) {
    const packages = await findPackagesFor(database.session, {
      advisoryUid,
      keys,
      after,
      limit: contentLimits.portion,
    });
    const answers: PackageAnswer[] = [];
    for (const due of packages) {
      await nextSlice();
      counts.advisory += 1;
      const asked = askedOf(due);
      answers.push({ due, answer: statements && asked ? evaluateIfNamed(row!, statements, asked) : undefined });
    }
    if (answers.length > 0) await writeAnswers(context, changed, answers);
    if (packages.length < contentLimits.portion) return;
    after = packages.at(-1)!.no;
  }
}

/** A package and what an advisory says about it; undefined for nothing. */
interface PackageAnswer {
  readonly due: PackageRow;
  readonly answer: Answer | undefined;
}

/** Stores answers, and logs what they change. */
async function writeAnswers(
  { database, newWrite, settings, quota }: EvaluationContext,
  { uid, row, former }: ReadAdvisory,
  answers: readonly PackageAnswer[],
): Promise<void> {
  const numbers = answers.map(({ due }) => due.no);
  const described = row ?? former;
  // Read before the transaction, in which reading must not wait between slices.
  const ids = described ? [described.name, ...described.aliases] : [];
  const statements = await database.read((session) => statementsOn(session, rootOf(uid), ids));
  await database.write(newWrite(), async (tx) => {
    const kept = await keepPackages(tx, numbers);
    const before = await findStatuses(tx, uid, numbers);
    const written = answers.filter(({ due }) => kept.has(due.no));
    for (const { due, answer } of written) await writeAnswer(tx, due, uid, row, answer);
    if (!described) return;
    const changes = written.map(({ due, answer }) => ({
      package: due,
      before: before.get(due.no)?.status ?? ProductStatus.UNSPECIFIED,
      after: (row && answer?.status) ?? ProductStatus.UNSPECIFIED,
    }));
    const vulnerability =
      written.flatMap(({ answer }) => (answer ? [vulnerabilityOf(described, answer.findings)] : []))[0] ??
      [...before.values()][0]?.vulnerability ??
      "";
    const overrides = newOverrides(tx, statements, settings);
    await logFindingChanges(tx, { uid, row: described, vulnerability }, changes, { overrides, quota });
  });
}

/** A key that has the same number as that of the advisory may be of another package. */
function evaluateIfNamed({ lookUpKeys }: AdvisoryRow, statements: AdvisoryStatements, asked: QueriedPackage) {
  return lookUpKeys.some((key) => asked.versions.has(key)) ? evaluate(statements, asked) : undefined;
}

async function writeAnswer(
  tx: Transaction,
  { no }: PackageRow,
  advisoryUid: string,
  row: AdvisoryRow | undefined,
  answer: Answer | undefined,
): Promise<void> {
  if (row && answer) await putFinding(tx, { ...findingOf(no, row, answer), firstKnownTime: tx.context.time });
  else await deleteFinding(tx, no, advisoryUid);
}

/** An advisory with its statements, or the row that it had before it was deleted. */
interface ReadAdvisory {
  readonly uid: string;
  readonly row: AdvisoryRow | undefined;
  readonly statements: AdvisoryStatements | undefined;
  readonly former: AdvisoryRow | undefined;
}

async function readAdvisory(session: Session, uid: string): Promise<ReadAdvisory> {
  const row = await findRow(session, advisoryCollection, uid);
  if (!row) {
    const deleted = await findDeletedAdvisory(session, uid);
    return { uid, row, statements: undefined, former: deleted && rowOfDeleted(deleted) };
  }
  const [statements] = await readStatements(session, [row]);
  return { uid, row, statements, former: undefined };
}

function findingOf(packageNumber: number, row: AdvisoryRow, answer: Answer): NewFinding {
  const { status, fixedVersions, isUncertain, findings } = answer;
  const justified = findings.find((finding) => finding.status === status && finding.statement.justification !== "");
  return {
    package: packageNumber,
    advisoryUid: row.uid,
    groupUid: parentOf(row.uid),
    status,
    vulnerability: vulnerabilityOf(row, findings),
    fixedVersions: [...fixedVersions],
    uncertain: isUncertain,
    justification: justified?.statement.justification ?? "",
  };
}

function askedOf({ purl }: PackageRow): QueriedPackage | undefined {
  const asked = readPackage({ purl, ecosystem: "", name: "", version: "" });
  return "field" in asked ? undefined : asked;
}
