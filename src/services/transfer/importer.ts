// Creates or updates one resource with a given uid.
import { isDeepStrictEqual } from "node:util";
import {
  create,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  type MessageShape,
  toJson,
} from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { ImportOutcome } from "../../../gen/gatehouse/organizations/v1/organizations_pb.ts";
import { fromTimestamp } from "../../aip/timestamps.ts";
import { clip } from "../../base/clip.ts";
import { depthOf, parentOf } from "../../model/uid.ts";
import type { ResourceRow } from "../../storage/collection/collection.ts";
import { changedColumns } from "../../storage/collection/row-changes.ts";
import { findRow, insertRow, rowExists, updateRow } from "../../storage/collection/rows.ts";
import type { Session } from "../../storage/engine/session.ts";
import {
  type AnyImport,
  type Importer,
  type ImportKind,
  type ImportPlace,
  missing,
  rejected,
} from "../kinds/import-kind.ts";
import { collections } from "../resources.ts";

/** The maximum length of a value in a result, in UTF-16 units. */
const shownLength = 200;

/** The collections whose rows have uids of their own: one uid never names two resources. */
const withOwnUids = collections.filter(({ sharesUid }) => !sharesUid);

/** A message with the fields that most resources have. */
interface Stamped {
  readonly uid: string;
  readonly createTime?: Timestamp;
  readonly updateTime?: Timestamp;
}

/** Returns the importer of a declaration. */
export function toImporter(declared: AnyImport): Importer {
  return "run" in declared ? declared : importerOf(declared);
}

function importerOf<D extends DescMessage, R extends ResourceRow>(kind: ImportKind<D, R>): Importer<MessageShape<D>> {
  const { resource, references = () => [] } = kind;
  const { collection } = resource;

  async function problemsOf(session: Session, after: R, before: R | undefined, { maxDepth }: ImportPlace) {
    const parent = before ? undefined : kind.parentOf(after.uid);
    if (parent !== undefined && !(await rowExists(session, kind.parents, parent)))
      return [missing("uid", "a parent", parent)];
    if (parent !== undefined && parent !== after.uid && depthOf(parent) >= maxDepth)
      return [{ field: "uid", description: `groups may be nested ${maxDepth} levels deep` }];
    if (!before && !collection.sharesUid && (await isUsed(session, after.uid, collection.kind)))
      return [{ field: "uid", description: "is the uid of another kind of resource" }];
    return (await kind.check?.(session, after, before)) ?? [];
  }

  return {
    schema: resource.schema,
    messageRules: resource.messageRules,
    references,
    isOfGroup: kind.isOfGroup,
    ...(kind.isExcused && { isExcused: kind.isExcused }),
    async run(session, message, place) {
      const { tx, call } = place;
      const { uid } = message as unknown as Stamped;
      const before = await findRow(session, collection, uid);
      const own = ownColumns(message as unknown as Stamped, before, place.time);
      const after = kind.toRow(message, own, before, place);
      const hasClientSecret = Boolean(kind.secret?.of(after));
      if (before && changedColumns(before, after).length === 0)
        return { outcome: ImportOutcome.UNCHANGED, hasClientSecret };
      if (place.isShared && (before || !kind.isIndependent(after))) return undefined;
      const problems = await problemsOf(session, after, before, place);
      if (problems.length > 0) return rejected(problems);
      if (tx) {
        await kind.prepare?.(tx, after, before, call);
        if (before) await updateRow(tx, collection, before, after);
        else await insertRow(tx, collection, after);
        if (before) await kind.finish?.(tx, before);
      }
      if (!before) return { outcome: ImportOutcome.CREATED, hasClientSecret };
      return { outcome: ImportOutcome.UPDATED, changes: changesOf(kind, before, after), hasClientSecret };
    },
  };
}

/** Only requests that run at the same time could still give one uid to resources of two kinds. */
async function isUsed(session: Session, uid: string, kind: string): Promise<boolean> {
  const others = withOwnUids.filter((other) => other.kind !== kind);
  return (await Promise.all(others.map((other) => rowExists(session, other, uid)))).includes(true);
}

/** Times that the message does not have stay as stored. */
function ownColumns({ uid, createTime, updateTime }: Stamped, before: ResourceRow | undefined, time: number) {
  const updated = updateTime ? fromTimestamp(updateTime) : undefined;
  const created = createTime ? fromTimestamp(createTime) : (before?.createTime ?? updated ?? time);
  const parent = uid.includes("/") ? parentOf(uid) : null;
  return { uid, parent, createTime: created, updateTime: Math.max(created, updated ?? before?.updateTime ?? created) };
}

/** Returns the fields in which two states of a resource differ, with their JSON. */
function changesOf<D extends DescMessage, R extends ResourceRow>(
  { resource: { schema, toMessage }, secret }: ImportKind<D, R>,
  before: R,
  after: R,
) {
  const jsonOf = (row: R) =>
    toJson(schema, create(schema, toMessage(row)) as MessageShape<D>, { useProtoFieldName: true }) as JsonObject;
  const [old, now] = [jsonOf(before), jsonOf(after)];
  const fields = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  const changes = fields
    .filter((field) => field !== "update_time" && !isDeepStrictEqual(old[field], now[field]))
    .map((field) => ({ field, oldValue: textOf(old[field]), newValue: textOf(now[field]) }));
  if (!secret || secret.of(before) === secret.of(after)) return changes;
  const shown = (row: R) => (secret.of(row) === null ? "" : "secret");
  return [...changes, { field: secret.field, oldValue: shown(before), newValue: shown(after) }];
}

function textOf(value: JsonValue | undefined): string {
  return value === undefined ? "" : clip(JSON.stringify(value), shownLength);
}
