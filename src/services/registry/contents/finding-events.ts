// Events of findings that an advisory changes: one for each repo, advisory and change of status.
import { create, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { FindingChangeSchema } from "../../../../gen/gatehouse/registry/v1/image_contents_pb.ts";
import { ProductStatus } from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { type Clock, hourMs } from "../../../base/clock.ts";
import { parentOf, rootOf } from "../../../model/uid.ts";
import type { EventDefinition } from "../../../resource/event-definition.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import type { PackageRow } from "../../../storage/images/packages.ts";
import { findTaggedImages, type TaggedImage } from "../../../storage/images/tagged-images.ts";
import { repoCollection } from "../../../storage/registry/rows.ts";
import type { AdvisoryRow } from "../../../storage/vulnerabilities/rows.ts";
import { openStatuses } from "./image-findings.ts";
import type { Overrides, StatedFinding } from "./image-statements.ts";
import { contentLimits } from "./limits.ts";
import { severityOf } from "./severity.ts";

/** The kind of changed findings in the change log. A change has the uid of the repo. */
export const findingKind = "image_findings";

/** The method of background work on images in the change log. */
export const imageWorkMethod = "images";

/** The status of a package by an advisory before and after a change; unspecified without a finding. */
export interface StatusChange {
  readonly package: PackageRow;
  /** A value of `ProductStatus`, as `after`. */
  readonly before: number;
  readonly after: number;
}

/** An advisory whose findings changed. */
export interface ChangedAdvisory {
  readonly uid: string;
  /** Its row, or that from before its deletion. */
  readonly row: AdvisoryRow;
  readonly vulnerability: string;
}

/** Counts events. */
export interface EventQuota {
  /** Counts an event of an organization: whether it is within the quota of this hour, the first one beyond, or a further one. */
  take(organization: string): "within" | "last" | "beyond";
}

/** Returns a quota of events for each organization and hour. */
export function newEventQuota(clock: Clock): EventQuota {
  const counts = new Map<string, number>();
  let hour = 0;
  return {
    take(organization) {
      const now = Math.floor(clock() / hourMs);
      if (now !== hour) counts.clear();
      hour = now;
      const count = (counts.get(organization) ?? 0) + 1;
      counts.set(organization, count);
      if (count <= contentLimits.findingEvents) return "within";
      return count === contentLimits.findingEvents + 1 ? "last" : "beyond";
    },
  };
}

type LoggedChange = MessageInitShape<typeof FindingChangeSchema>;

/** Writes the changes of an advisory to the change log, from which their events are made. */
export async function logFindingChanges(
  tx: Transaction,
  advisory: ChangedAdvisory,
  changes: readonly StatusChange[],
  { overrides, quota }: { readonly overrides: Overrides; readonly quota: EventQuota },
): Promise<void> {
  const told = changes.filter(isTold);
  if (told.length === 0) return;
  const byPackage = new Map(told.map((change) => [change.package.no, change]));
  const numbers = [...byPackage.keys()];
  const images = await findTaggedImages(tx, parentOf(advisory.uid), numbers, contentLimits.eventRows);
  const { name: advisoryId, aliases } = advisory.row;
  const found: ImageChange[] = [];
  for (const image of images) {
    const stored = byPackage.get(image.package)!;
    const { purl } = stored.package;
    const finding = { advisoryId, aliases, vulnerability: advisory.vulnerability, purl };
    const change = await shownChange(overrides, image, finding, stored);
    if (isTold(change)) found.push({ image, change });
  }
  for (const [repoUid, ofRepo] of Map.groupBy(found, ({ image }) => image.repoUid))
    for (const same of Map.groupBy(ofRepo, ({ change }) => `${change.before} ${change.after}`).values()) {
      const place = quota.take(rootOf(repoUid));
      if (place !== "beyond") await logChange(tx, repoUid, advisory, same, place === "last");
    }
}

interface ImageChange {
  readonly image: TaggedImage;
  readonly change: StatusChange;
}

/** Whether an event tells of a change: a finding is open that was not, or is open no more. */
function isTold({ before, after }: StatusChange): boolean {
  const isOpen = (status: number) => (openStatuses as readonly number[]).includes(status);
  return before !== after && (isOpen(before) || isOpen(after));
}

/** Returns a change as callers see it: statements about the image override the statuses of findings. */
async function shownChange(
  overrides: Overrides,
  image: TaggedImage,
  finding: StatedFinding,
  change: StatusChange,
): Promise<StatusChange> {
  const statement = await overrides.of(image, finding);
  if (!statement) return change;
  const shown = (status: number) => (status === ProductStatus.UNSPECIFIED ? status : statement.status);
  return { ...change, before: shown(change.before), after: shown(change.after) };
}

async function logChange(
  tx: Transaction,
  repoUid: string,
  { uid, row, vulnerability }: ChangedAdvisory,
  changes: readonly ImageChange[],
  truncated: boolean,
): Promise<void> {
  const { before, after } = changes[0]!.change;
  const digests = [...new Set(changes.map(({ image }) => image.taggedDigest))].sort();
  const purls = [...new Set(changes.map(({ change }) => change.package.purl))].sort();
  const logged = {
    repoUid,
    repoName: (await findRow(tx, repoCollection, repoUid))?.name ?? "",
    advisoryUid: uid,
    advisoryId: row.name,
    vulnerability,
    aliases: [...row.aliases],
    severity: severityOf(row.score ?? -1),
    previousStatus: before as ProductStatus,
    status: after as ProductStatus,
    purls: purls.slice(0, contentLimits.shownPackages),
    digests: digests.slice(0, contentLimits.eventDigests),
    digestCount: digests.length,
    truncated,
  } satisfies LoggedChange;
  tx.logChange({ kind: findingKind, uid: repoUid, groupUid: parentOf(repoUid), before: null, after: logged });
}

/** Returns the event of changed findings, which no method causes. */
export function findingEvent(): EventDefinition {
  return {
    cause: imageWorkMethod,
    kind: findingKind,
    type: "dev.gatehouse.registry.finding.v1",
    source: (baseUrl) => `${baseUrl}/gatehouse/registry/v1/images`,
    bodyType: FindingChangeSchema.typeName,
    group: parentOf,
    subject: ([uid]) => uid!,
    body: ([{ after }]) => toJson(FindingChangeSchema, create(FindingChangeSchema, after as LoggedChange)),
  };
}
