// Translates statements of other formats to OSV: affected versions, a fix, or nobody is affected.
import { ReviewState } from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import {
  type ProductStatement,
  ProductStatus,
  RangeEventType,
  type VersionRange,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { wordOfReason } from "../reasons.ts";
import { heldStatement } from "../versions/held-statement.ts";

/** The state of a product in the words of OSV. */
export type State =
  /** With neither versions nor ranges, every version is affected. */
  | { readonly kind: "affected"; readonly versions: readonly string[]; readonly ranges: readonly VersionRange[] }
  /** The versions have a fix. */
  | { readonly kind: "fixed"; readonly versions: readonly string[] }
  /** No version is affected. */
  | { readonly kind: "none"; readonly reason: string; readonly justification: string }
  /** OSV has no word for it. `isOpen` when some version may be affected. */
  | { readonly kind: "unsaid"; readonly what: string; readonly isOpen: boolean };

/** Returns the state that a statement asserts. For an event log, that is the state of its last approved event. */
export function stateOf(said: ProductStatement): State {
  const statement = heldStatement(said);
  if (!statement) return unsaid("a log without an approved status", false);
  const { status, versions, ranges, justification } = statement;
  // The parts in a log tell where something was found; its last event is about the product.
  const hasParts = said.events.length === 0 && said.subcomponents.length > 0;
  switch (status) {
    case ProductStatus.AFFECTED:
      return { kind: "affected", versions, ranges };
    case ProductStatus.FIXED: {
      const fixes = [...versions, ...ranges.flatMap(startsOf)];
      if (hasParts) return unsaid("a fix of parts of a product");
      return fixes.length > 0 ? { kind: "fixed", versions: fixes } : unsaid("a fix without a version");
    }
    case ProductStatus.NOT_AFFECTED:
      if (hasParts) return unsaid("parts of a product that are not affected", false);
      if (versions.length + ranges.length > 0) return unsaid("versions that are not affected", false);
      return { kind: "none", reason: statementReason(said), justification };
    case ProductStatus.UNDER_INVESTIGATION:
      return unsaid("a status under investigation");
    default:
      return unsaid("an unknown status");
  }
}

/** Returns the reason of a log, which is more exact than a justification. */
function statementReason({ events }: ProductStatement): string {
  const last = events.findLast(({ reviewState }) => reviewState === ReviewState.APPROVED);
  return last?.type.case === "falsePositiveDetermination" ? wordOfReason(last.type.value.type) : "";
}

function unsaid(what: string, isOpen = true): State {
  return { kind: "unsaid", what, isOpen };
}

/** Returns the versions from which a range holds: of a fix, the versions that have it first. */
function startsOf({ events }: VersionRange): string[] {
  const starts = events.filter(({ type, version }) => type === RangeEventType.INTRODUCED && version !== "0");
  return starts.map(({ version }) => version);
}
