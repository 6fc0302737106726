// The rows of the IAM resources.
import type { Term } from "../../model/grants.ts";
import type { Trust } from "../../model/trust.ts";
import type { ResourceRow } from "../collection/collection.ts";
import type { StoredRelationship } from "../schema/tables/iam.ts";

/** A group as it is stored. */
export interface GroupRow extends ResourceRow {
  readonly name: string;
  readonly description: string;
  readonly resourceLimits: Record<string, number>;
  readonly verified: boolean;
  readonly kind: number;
  readonly status: number;
  readonly updateTime: number;
}

/** An identity as it is stored. */
export interface IdentityRow extends ResourceRow {
  readonly name: string;
  readonly description: string;
  readonly email: string;
  readonly emailUnverified: string;
  readonly company: string;
  readonly relationshipType: number;
  readonly relationship: StoredRelationship;
  readonly issuer: string;
  readonly subject: string;
  readonly metadata: Record<string, unknown>;
  readonly lastSeenTime: number;
  readonly updateTime: number;
  readonly trust: Trust | null;
}

/** A role as it is stored. */
export interface RoleRow extends ResourceRow {
  readonly name: string;
  readonly description: string;
  readonly capabilities: number[];
  readonly updateTime: number;
}

/** A role binding as it is stored. */
export interface RoleBindingRow extends ResourceRow, Term {
  readonly parent: string;
  readonly identityUid: string;
  readonly roleUid: string;
}

/** A group invite as it is stored. */
export interface GroupInviteRow extends ResourceRow {
  readonly parent: string;
  readonly roleUid: string;
  readonly recipient: string;
  readonly expirationTime: number;
  readonly singleUse: boolean;
  readonly keyId: string;
  readonly codeDigest: string;
}

/** An account association as it is stored. */
export interface AccountAssociationRow extends ResourceRow {
  readonly name: string;
  readonly description: string;
  readonly accounts: Record<string, unknown>;
  readonly updateTime: number;
}
