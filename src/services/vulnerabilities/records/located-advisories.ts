// Finds the advisories of a record: live, withdrawn, made by an earlier version, or not created yet.
import { type AdvisoryRecord, RecordFormat } from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { partKey, type RecordPart } from "../../../advisories/derive/parts.ts";
import { artifactOf } from "../../../advisories/product.ts";
import { newChild } from "../../../model/uid.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import {
  type DeletedAdvisoryRow,
  findAdvisoriesByName,
  findDeletedAdvisoriesByName,
  findDeletedAdvisory,
} from "../../../storage/vulnerabilities/advisories.ts";
import { findRecordLinks } from "../../../storage/vulnerabilities/records.ts";
import {
  type AdvisoryRow,
  advisoryCollection,
  underived,
  unknownProduct,
} from "../../../storage/vulnerabilities/rows.ts";
import { derivedId } from "../advisories/advisory-fields.ts";

/** An advisory of a record. */
export interface LocatedAdvisory {
  readonly uid: string;
  readonly advisoryId: string;
  readonly identity: string;
  /** The row; the last one if the advisory was withdrawn or deleted; undefined if it does not exist yet. */
  readonly row: AdvisoryRow | undefined;
  /** Whether it is in the lists. */
  readonly isLive: boolean;
  /** Whether an earlier version made it, which had no products. */
  readonly isOlder: boolean;
}

/** Finds the advisory of a part of a record. */
export async function locate(
  session: Session,
  parent: string,
  part: RecordPart,
  record: AdvisoryRecord,
): Promise<LocatedAdvisory> {
  const { advisoryId, identity } = part;
  const formerName = formerNameOf(part, record);
  const rows = await findAdvisoriesByName(session, parent, advisoryId, formerName);
  const same = rows.filter(({ name }) => name === advisoryId);
  const exact = same.find(({ product }) => product === identity);
  if (exact) return located(part, exact, true);
  const renamed = rows.filter((row) => row.name !== advisoryId && row.product === "");
  const older = await findUnlinked(session, [...same.filter((row) => isFormer(row, part, record)), ...renamed]);
  if (older) return located(part, older, true);
  const deleted = (await findDeletedAdvisoriesByName(session, parent, advisoryId)).map(rowOfDeleted);
  const withdrawn = deleted.find(({ product }) => product === identity);
  if (withdrawn) return located(part, withdrawn, false);
  const former = deleted.find((row) => isFormer(row, part, record));
  return { uid: newChild(parent), advisoryId, identity, row: former, isLive: false, isOlder: former !== undefined };
}

/** Whether an earlier version made the row from the part. Packages of the YAML format can share ids. */
function isFormer(row: AdvisoryRow, { product }: RecordPart, { format }: AdvisoryRecord): boolean {
  if (row.product !== "") return false;
  return format !== RecordFormat.YAML || !product || artifactOf(product).name === row.artifactName;
}

/** Finds the first row without records: records without a product also have advisories without one. */
async function findUnlinked(session: Session, rows: readonly AdvisoryRow[]): Promise<AdvisoryRow | undefined> {
  if (rows.length === 0) return undefined;
  const uids = rows.map(({ uid }) => uid);
  const linked = new Set((await findRecordLinks(session, uids)).map(({ advisoryUid }) => advisoryUid));
  return rows.find(({ uid }) => !linked.has(uid));
}

/** Returns the id that earlier versions derived. */
function formerNameOf({ advisoryId, product }: RecordPart, record: AdvisoryRecord): string {
  return product ? derivedId(artifactOf(product), record.advisoryId || record.vulnerability) : advisoryId;
}

function located({ advisoryId, identity }: RecordPart, row: AdvisoryRow, isLive: boolean): LocatedAdvisory {
  return { uid: row.uid, advisoryId, identity, row, isLive, isOlder: row.product !== identity };
}

/** Finds an advisory by its uid, also a deleted one; undefined if no deletion is stored either. */
export async function locateByUid(session: Session, uid: string): Promise<LocatedAdvisory | undefined> {
  const live = await findRow(session, advisoryCollection, uid);
  const deleted = live ? undefined : await findDeletedAdvisory(session, uid);
  const row = live ?? (deleted && rowOfDeleted(deleted));
  if (!row) return undefined;
  return { uid, advisoryId: row.name, identity: row.product, row, isLive: live !== undefined, isOlder: false };
}

const laterColumns = { ...unknownProduct, ...underived, sources: [] };

/** Returns the row of a deleted advisory. Rows of earlier versions lack newer columns. */
export function rowOfDeleted({ advisory }: Pick<DeletedAdvisoryRow, "advisory">): AdvisoryRow {
  return { ...laterColumns, ...(advisory as Omit<AdvisoryRow, keyof typeof laterColumns>) };
}

/** Returns the key of the parts of an advisory. */
export function keyOfLocated({ advisoryId, identity }: LocatedAdvisory): string {
  return partKey({ advisoryId, identity });
}
