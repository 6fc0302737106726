// Identities whose rule lets in others by mistake.
//
// A rule is checked when findings are listed, not when it is written: the verdict depends on what the linter of this release knows, and on
// the audiences of the installation. An apply may write thousands of rules, and each check takes about 5 ms. Verdicts are cached by rule.
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { RelationshipType } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { FindingKind } from "../../../gen/gatehouse/organizations/v1/findings_pb.ts";
import { ApiError } from "../../aip/errors.ts";
import { compareTexts } from "../../base/compare-texts.ts";
import { nextSlice } from "../../base/slices.ts";
import { findRows } from "../../storage/collection/rows.ts";
import type { Session } from "../../storage/engine/session.ts";
import { identityCollection } from "../../storage/iam/collections.ts";
import type { IdentityRow } from "../../storage/iam/rows.ts";
import { scanRanges, scanRows } from "../../storage/list/scan.ts";
import type { Audiences } from "../../sts/audiences.ts";
import { lintRule } from "../../sts/trust/lint.ts";
import { fromColumns } from "../iam/identities/relationships.ts";
import { type FindingSource, maxScanned, scanOfFound } from "./finding-kind.ts";
import { identityScan, showIdentity } from "./identity-findings.ts";

/** The maximum number of identities whose rules one call looks up. */
const maxRules = 5_000;

/** The maximum number of rules that one call checks, because they are not in the cache. */
const maxChecked = 50;

/** The maximum number of verdicts in the cache. */
const maxVerdicts = 20_000;

const claimMatches = identityScan({ relationshipType: RelationshipType.CLAIM_MATCH });

/** Returns the finding of identities whose rule accepts a token of another owner, or of workloads that others can start. */
export function broadRules(audiences: Audiences): FindingSource {
  const verdicts = new LRUCache<string, boolean>({ max: maxVerdicts });
  return {
    kind: FindingKind.BROAD_RULE,
    capability: Capability.CAP_IAM_IDENTITY_LIST,
    async startScan(session, subtrees) {
      const { rows, isWhole } = await readRules(session, subtrees);
      const found: IdentityRow[] = [];
      let checked = 0;
      let isComplete = isWhole;
      for (const row of rows) {
        await nextSlice();
        const key = digestOf(row);
        const known = verdicts.get(key);
        // The others wait for a later call, and hold up no other kind.
        const isLeftOut = known === undefined && checked === maxChecked;
        if (isLeftOut) isComplete = false;
        else if (known ?? check(row, key)) found.push(row);
      }
      return scanOfFound({
        found,
        isWhole: isComplete,
        cursorOf: ({ uid }) => uid,
        show: async (some) => some.map((row) => showIdentity(row, row.createTime)),
      });

      function check(row: IdentityRow, key: string): boolean {
        checked++;
        const isBroad = hasError(row, audiences);
        verdicts.set(key, isBroad);
        return isBroad;
      }
    },
  };
}

/** Returns the identities with a claim match, in the order of their uids. */
async function readRules(session: Session, subtrees: readonly string[]) {
  const { ranges, isWhole } = await scanRanges(session, claimMatches, subtrees, maxScanned);
  const uids = await scanRows(session, claimMatches, ranges, { after: "", skip: 0, limit: maxRules + 1 });
  const rows = await findRows(session, identityCollection, uids.slice(0, maxRules));
  return { rows: rows.toSorted((a, b) => compareTexts(a.uid, b.uid)), isWhole: isWhole && uids.length <= maxRules };
}

function digestOf({ relationship }: IdentityRow): string {
  return createHash("sha256").update(JSON.stringify(relationship)).digest("base64url");
}

function hasError(row: IdentityRow, audiences: Audiences): boolean {
  const relationship = fromColumns(row.relationship);
  if (relationship.case !== "claimMatch") return false;
  try {
    return lintRule(relationship.value, audiences).findings.some(({ isError }) => isError);
  } catch (error) {
    // Its patterns take too many steps: no token is known that they accept by mistake.
    if (error instanceof ApiError) return false;
    throw error;
  }
}
