// Claims about the products of one vulnerability, made from records for a CSAF document.
import type { ProductStatement } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import {
  type AdvisoryRecord,
  ProductStatus,
  RangeEventType,
  RecordFormat,
  type RecordSeverity,
  ResponsePlan,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import type { JsonObject } from "../../base/json.ts";
import { parseCvss } from "../cvss.ts";
import { saidTime } from "../derive/holding.ts";
import { parseExtra } from "../extra.ts";
import { identityOf } from "../product.ts";
import { timestampText } from "../times.ts";
import { heldStatement } from "../versions/held-statement.ts";
import { type DetailKind, detailKinds } from "./details.ts";
import { unpackProducts } from "./packing.ts";
import { writeProducts } from "./products-written.ts";
import type { ProductJson } from "./read-product.ts";
import type { Shared } from "./statements.ts";
import { flagLabels, noAction, noAnalysis, noFix, noReason, pendingFix, wordOfStatus } from "./words.ts";

/** The same said of some products. */
export interface Claim {
  readonly status: ProductStatus;
  /** The members of `product_status`. */
  readonly words: readonly string[];
  readonly products: readonly ProductJson[];
  /** The items of flags, threats, remediations and scores about these products, without their products. */
  readonly details: Readonly<Partial<Record<DetailKind, readonly JsonObject[]>>>;
}

/** Counts data that CSAF has no place for. */
export type Loss = (what: string) => void;

const { AFFECTED, NOT_AFFECTED, FIXED, UNDER_INVESTIGATION } = ProductStatus;

/** Returns the claims of a statement. */
export function claimsOf(record: AdvisoryRecord, whole: ProductStatement, loss: Loss): Claim[] {
  const claim = record.format === RecordFormat.CSAF ? claimOfCsaf(record, whole) : undefined;
  if (claim) return [claim];
  const statement = heldStatement(whole);
  if (!statement) {
    loss("a state that nobody has approved, or a fix without a version");
    return [];
  }
  if (whole.events.length > 1) loss("the history of a state");
  const severities = statement.severities.length > 0 ? statement.severities : record.severities;
  if (whole.events.length === 0) return claimsOfOthers(statement, severities, loss);
  // The parts in a log tell where something was found. Its last event is about the product.
  if (statement.subcomponents.length > 0) loss("where something was found");
  return claimsOfOthers({ ...statement, subcomponents: [] }, severities, loss);
}

/** Returns the claim that the CSAF reader kept in the statement's `extra`; undefined if the record did not come from CSAF. */
function claimOfCsaf(record: AdvisoryRecord, statement: ProductStatement): Claim | undefined {
  const { words, products, details: numbers = [] } = parseExtra(statement.extra);
  if (!Array.isArray(words) || !Array.isArray(products) || !Array.isArray(numbers)) return undefined;
  const { details: shared, branches } = sharedOf(record);
  const said = numbers.map((number) => shared[Number(number)]).filter((detail) => detail !== undefined);
  const details = detailKinds.map(
    (kind) => [kind, said.filter(([each]) => each === kind).map(([, json]) => json)] as const,
  );
  return {
    status: statement.status,
    words,
    products: unpackProducts(products, branches, statement),
    details: Object.fromEntries(details.filter(([, list]) => list.length > 0)),
  };
}

/** The details and branches shared by the statements of a record, parsed once per record. */
const known = new WeakMap<AdvisoryRecord, Shared>();

function sharedOf(record: AdvisoryRecord): Shared {
  const cached = known.get(record);
  if (cached) return cached;
  const { details = [], branches = [] } = parseExtra(record.extra);
  const shared = { details, branches } as Shared;
  known.set(record, shared);
  return shared;
}

function claimsOfOthers(statement: ProductStatement, severities: readonly RecordSeverity[], loss: Loss): Claim[] {
  const word = wordOfStatus(statement.status);
  const { product } = statement;
  if (word === undefined || !product || identityOf(product) === "") {
    loss(word === undefined ? "an advisory without a status" : "a statement without a product");
    return [];
  }
  const written = writeProducts(product, statement);
  const ranges = rangesOf(statement, loss);
  const products = [
    ...statement.versions.flatMap((version) => written.version(version)),
    ...ranges.flatMap((range) => {
      const found = written.range(range);
      if (!found) loss("a range of versions that names none");
      return found ?? [];
    }),
  ];
  const isOfAll = statement.versions.length + statement.ranges.length === 0;
  if (products.length === 0 && !isOfAll) return [];
  const fixes = statement.status === AFFECTED ? fixesIn(ranges) : [];
  const details = { ...detailsOf(statement, fixes, loss), ...scoresOf(severities, loss) };
  const claim = {
    status: statement.status,
    words: [word],
    products: isOfAll ? written.version("") : products,
    details,
  };
  if (fixes.length === 0) return [claim];
  const remediations = [{ category: "vendor_fix", details: fixedIn(fixes) }];
  const fixed = fixes.flatMap((fix) => written.version(fix));
  return [claim, { status: FIXED, words: ["fixed"], products: fixed, details: { remediations } }];
}

/** Returns the ranges of a statement. Those of commits count only without other ranges and versions. */
function rangesOf({ ranges, versions }: ProductStatement, loss: Loss) {
  const ofVersions = ranges.filter(({ type }) => type !== "GIT");
  if (ofVersions.length + versions.length === 0) return ranges;
  if (ofVersions.length < ranges.length) loss("a range of commits of what has versions");
  return ofVersions;
}

function fixesIn(ranges: ProductStatement["ranges"]): string[] {
  const events = ranges.filter(({ type }) => type !== "GIT").flatMap((range) => range.events);
  const fixes = events.filter(
    ({ type, version }) => type === RangeEventType.FIXED && version !== "" && version !== "0",
  );
  return [...new Set(fixes.map(({ version }) => version))];
}

function fixedIn(versions: readonly string[]): string {
  return `Fixed in ${versions.join(", ")}.`;
}

/** Returns the flags, threats and remediations of a statement. */
function detailsOf(statement: ProductStatement, fixes: readonly string[], loss: Loss): Claim["details"] {
  const { status, justification, impact, action, notes, plan, time } = statement;
  const isFlag = flagLabels.includes(justification) && status === NOT_AFFECTED;
  const reasons = [impact, isFlag ? "" : justification].filter((text) => text !== "");
  if (status === UNDER_INVESTIGATION && plan === ResponsePlan.ANALYSIS_NOT_PLANNED) reasons.push(noAnalysis);
  // The profile VEX demands an impact statement or a flag. That there is no reason is not a reason.
  if (status === NOT_AFFECTED && reasons.length === 0 && !isFlag) reasons.push(noReason);
  const flag = { label: justification, ...(time && { date: timestampText(time) }) };
  const said = [action, notes].filter((text) => text !== "").join("\n");
  const remediations = status === AFFECTED ? remediesOf(said, plan, fixes) : [];
  if (status === FIXED && statement.versions.length > 0)
    remediations.push({ category: "vendor_fix", details: fixedIn(statement.versions) });
  if (status !== AFFECTED && said !== "") loss("notes on a status");
  return {
    ...(isFlag && { flags: [flag] }),
    ...(reasons.length > 0 && { threats: reasons.map((details) => ({ category: "impact", details })) }),
    ...(remediations.length > 0 && { remediations }),
  };
}

/** Returns the remediations of an affected product. The profile VEX requires at least one (CSAF 2.0 §4.5), so a default fills the gap. */
function remediesOf(said: string, plan: ResponsePlan, fixes: readonly string[]): JsonObject[] {
  if (plan === ResponsePlan.FIX_NOT_PLANNED) return [{ category: "no_fix_planned", details: said || noFix }];
  if (plan === ResponsePlan.PENDING_UPSTREAM_FIX) return [{ category: "none_available", details: said || pendingFix }];
  const fix = fixes.length > 0 ? [{ category: "vendor_fix", details: fixedIn(fixes) }] : [];
  return said === "" && fix.length > 0 ? fix : [...fix, { category: "mitigation", details: said || noAction }];
}

/** CSAF 2.0 has scores of CVSS 2 and 3. */
function scoresOf(severities: readonly RecordSeverity[], loss: Loss): Claim["details"] {
  const scores = severities.flatMap(({ type, score }): JsonObject[] => {
    const cvss = parseCvss(score);
    if (!cvss || cvss.type === "CVSS_V4") {
      loss(
        cvss
          ? "a score of CVSS 4"
          : type.startsWith("CVSS")
            ? "a vector that is not valid"
            : "a severity that is not CVSS",
      );
      return [];
    }
    const { version, vector: vectorString, baseScore, baseSeverity } = cvss;
    const common = { version, vectorString, baseScore };
    return [cvss.type === "CVSS_V2" ? { cvss_v2: common } : { cvss_v3: { ...common, baseSeverity } }];
  });
  return scores.length > 0 ? { scores } : {};
}

/** Returns the time of the source's statement, in milliseconds since the epoch. */
export function timeOfClaim(record: AdvisoryRecord, statement: ProductStatement): number {
  return saidTime({ record, statement: heldStatement(statement) ?? statement }) ?? 0;
}
