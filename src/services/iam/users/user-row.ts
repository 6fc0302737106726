import { RelationshipType } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import type { IdentityRow } from "../../../storage/iam/rows.ts";

/** The columns that a user's registration sets. A pending user has none of them. */
export type Registration = Pick<IdentityRow, "name" | "email" | "emailUnverified" | "issuer" | "subject">;

const unregistered: Registration = { name: "", email: "", emailUnverified: "", issuer: "", subject: "" };

/**
 * Returns the row of a user: an identity without a group and without a relationship. Only tokens of a login provider stand for a
 * user; `issuer` and `subject` say which.
 */
export function newUserRow(uid: string, time: number, registration = unregistered): IdentityRow {
  return {
    uid,
    parent: null,
    description: "",
    company: "",
    ...registration,
    relationshipType: RelationshipType.UNSPECIFIED,
    relationship: { case: "", value: null },
    metadata: {},
    lastSeenTime: time,
    createTime: time,
    updateTime: time,
    trust: null,
  };
}
