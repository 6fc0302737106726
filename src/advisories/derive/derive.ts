// Derives an advisory from the statements of records about its product: a pure function of the set of records.
import { toBinary } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import {
  type AdvisoryEvent,
  AdvisoryEventSchema,
  Severity_Type,
} from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import {
  type AdvisoryRecord,
  type Product,
  ProductStatus,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { fromTimestamp } from "../../aip/timestamps.ts";
import { compareRecords } from "../digest.ts";
import { artifactOf, componentOf, parseProduct } from "../product.ts";
import { eventsOfStatement, type StatementEvent } from "./events.ts";
import { holdingStatements } from "./holding.ts";
import type { RecordPart } from "./parts.ts";

/** One record's data about the product of an advisory. Times are milliseconds since the epoch. */
export interface SaidPart {
  readonly record: AdvisoryRecord;
  readonly part: RecordPart;
  /** The time of the record's first import. */
  readonly createTime: number;
  /** The time of the first import of this copy. */
  readonly importTime: number;
}

/** An event with its time in milliseconds since the epoch. */
export interface DerivedEvent {
  readonly event: AdvisoryEvent;
  readonly time: number;
}

/** The fields of an advisory that are derived from its records. */
export interface DerivedAdvisory {
  readonly author: string;
  readonly artifactName: string;
  readonly artifactType: string;
  readonly artifactArchitecture: string;
  readonly componentName: string;
  readonly componentType: string;
  readonly aliases: string[];
  readonly severities: { readonly type: number; readonly score: string }[];
  readonly createTime: number;
  /** In their order; the last one is the state. */
  readonly events: DerivedEvent[];
}

/** How many events, aliases and severities an advisory has at most. */
export interface DerivationLimits {
  readonly events: number;
  readonly items: number;
}

/** Derives an advisory from one part or more. Their order does not matter. */
export function deriveAdvisory(
  { advisoryId, product }: Pick<RecordPart, "advisoryId" | "product">,
  parts: readonly SaidPart[],
  limits: DerivationLimits,
): DerivedAdvisory {
  const said = parts.toSorted((a, b) => compareRecords(a.record, b.record));
  const naming = said.find(({ record }) => record.advisoryId === advisoryId) ?? said[0]!;
  return {
    author: naming.record.source,
    ...subjectOf(product, said),
    aliases: aliasesOf(advisoryId, said).slice(0, limits.items),
    severities: severitiesOf(said).slice(0, limits.items),
    createTime: Math.min(...said.map(firstTime)),
    events: eventsOf(said, limits.events),
  };
}

/** Returns the artifact and its component: the only component that statements name, or the one that follows from the product. */
function subjectOf(product: Product | undefined, said: readonly SaidPart[]) {
  const artifact = product ? artifactOf(product) : { name: "", type: "", architecture: "" };
  const statements = said.flatMap(({ part }) => part.statements);
  const [named, ...others] = new Set(statements.flatMap(({ subcomponents }) => subcomponents));
  const component =
    named !== undefined && others.length === 0 ? subcomponentOf(named) : product && componentOf(product);
  return {
    artifactName: artifact.name,
    artifactType: artifact.type,
    artifactArchitecture: artifact.architecture,
    componentName: component?.name ?? "",
    componentType: component?.type ?? "",
  };
}

function subcomponentOf(text: string): { readonly name: string; readonly type: string } {
  const product = parseProduct(text)?.product;
  if (!product) return { name: text, type: "" };
  const { name, type } = artifactOf(product);
  return componentOf(product) ?? { name, type };
}

const aliasPattern = /^[A-Za-z0-9][A-Za-z0-9._:+/@~-]{0,127}$/;

function aliasesOf(advisoryId: string, said: readonly SaidPart[]): string[] {
  const ids = said.flatMap(({ record }) => [
    record.vulnerability,
    record.advisoryId,
    ...record.aliases,
    ...record.upstream,
  ]);
  return [...new Set(ids)].filter((id) => id !== advisoryId && aliasPattern.test(id));
}

const scales: Readonly<Record<string, Severity_Type>> = {
  CVSS_V2: Severity_Type.CVSS_V2,
  CVSS_V3: Severity_Type.CVSS_V3,
  CVSS_V4: Severity_Type.CVSS_V4,
};

function severitiesOf(said: readonly SaidPart[]) {
  const found = said.flatMap(({ record, part: { statements } }) =>
    statements.length === 0
      ? record.severities
      : statements.flatMap(({ severities }) => (severities.length > 0 ? severities : record.severities)),
  );
  const known = found.flatMap(({ type, score }) => {
    const scale = Object.hasOwn(scales, type) ? scales[type] : undefined;
    return scale === undefined ? [] : [{ type: scale as number, score }];
  });
  return [...new Map(known.map((each) => [`${each.type} ${each.score}`, each])).values()];
}

/** Returns the time since which the record covers the product: its publication, or its first statement. */
function firstTime({ record, part, createTime }: SaidPart): number {
  const { publishTime, modifyTime } = record;
  const told = part.statements.flatMap(({ time, events }) => [time, ...events.map((event) => event.createTime)]);
  const times = [publishTime, ...told].filter((time) => time !== undefined).map(fromTimestamp);
  if (times.length > 0) return Math.min(...times);
  return modifyTime ? fromTimestamp(modifyTime) : createTime;
}

/** From the best to the worst. */
const { NOT_AFFECTED, FIXED, UNDER_INVESTIGATION, AFFECTED } = ProductStatus;
const severity: readonly ProductStatus[] = [NOT_AFFECTED, FIXED, UNDER_INVESTIGATION, AFFECTED];

type PlacedEvent = StatementEvent & { readonly time: number };

/** Returns the events of all statements, each once, with the worst that holds behind all others. */
function eventsOf(said: readonly SaidPart[], limit: number): DerivedEvent[] {
  const statements = said.flatMap((each) => each.part.statements.map((statement) => ({ ...each, statement })));
  const holding = new Set(holdingStatements(statements));
  const placed = statements.flatMap((each) => {
    const time = timeOf(each.statement.time ?? each.record.publishTime ?? each.record.modifyTime) ?? each.importTime;
    return eventsOfStatement(each.statement, each.record.source).map(
      (made): PlacedEvent => ({
        ...made,
        holds: made.holds && holding.has(each),
        time: timeOf(made.event.createTime) ?? time,
      }),
    );
  });
  const worst = Math.max(-1, ...placed.map((each) => (each.holds ? severity.indexOf(each.status) : -1)));
  const isWorst = (each: PlacedEvent) => each.holds && severity.indexOf(each.status) === worst;
  const others = ordered(placed.filter((each) => !isWorst(each)));
  const latest = others.at(-1)?.time ?? Number.NEGATIVE_INFINITY;
  const last = ordered(placed.filter(isWorst).map((each) => ({ ...each, time: Math.max(each.time, latest) })));
  const kept = last.slice(-limit);
  return [...others.slice(Math.max(0, others.length - (limit - kept.length))), ...kept];
}

/** In the order of their times, and of the records where they are equal; each event once. */
function ordered(events: readonly PlacedEvent[]): DerivedEvent[] {
  const once = new Map<string, DerivedEvent>();
  for (const { event, time } of events.toSorted((a, b) => a.time - b.time)) {
    const text = `${time} ${textOf(event)}`;
    if (!once.has(text)) once.set(text, { event, time });
  }
  return [...once.values()];
}

/** Returns the event's encoding without its time, to compare events. */
function textOf(event: AdvisoryEvent): string {
  const { createTime: _, ...timeless } = event;
  return Buffer.from(toBinary(AdvisoryEventSchema, timeless)).toString("latin1");
}

function timeOf(timestamp: Timestamp | undefined): number | undefined {
  return timestamp && fromTimestamp(timestamp);
}
