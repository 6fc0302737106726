// Converts the relationship of an identity between its message and its row.
import { fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import {
  type Identity,
  Identity_AWSIdentitySchema,
  Identity_ClaimMatchSchema,
  Identity_StaticKeysSchema,
  RelationshipType,
  type ServicePrincipal,
} from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import type { MessageRules, TextRule } from "../../../pipeline/text-rules.ts";
import type { StoredRelationship } from "../../../storage/schema/tables/iam.ts";
import { maxClaims } from "../../../sts/identity-rules.ts";

type Relationship = Identity["relationship"];

const ownRule: TextRule = { test: () => true, description: "", maxLength: Number.POSITIVE_INFINITY };

/**
 * Turns off the default length limit for the texts of relationships, which `checkRelationship` checks. The limit would reject key
 * sets, and report other violations twice.
 */
export const relationshipRules: readonly MessageRules[] = [
  Identity_ClaimMatchSchema,
  Identity_StaticKeysSchema,
  Identity_AWSIdentitySchema,
].map((schema) => ({
  schema,
  fields: Object.fromEntries(schema.fields.map(({ name }) => [name, ownRule])),
  bounds: { claims: { maxItems: maxClaims }, claim_patterns: { maxItems: maxClaims } },
}));

/** The columns of a relationship. */
export interface RelationshipColumns {
  readonly relationshipType: RelationshipType;
  readonly relationship: StoredRelationship;
  /** The exact issuer and subject, by which token exchanges find an identity; empty if there is none. */
  readonly issuer: string;
  readonly subject: string;
}

/** Converts a relationship to columns. */
export function toColumns(relationship: Relationship): RelationshipColumns {
  switch (relationship.case) {
    case "claimMatch": {
      const { iss, sub } = relationship.value;
      return {
        relationshipType: RelationshipType.CLAIM_MATCH,
        relationship: { case: relationship.case, value: toJson(Identity_ClaimMatchSchema, relationship.value) },
        issuer: iss.case === "issuer" ? iss.value : "",
        subject: sub.case === "subject" ? sub.value : "",
      };
    }
    case "staticKeys":
      return {
        relationshipType: RelationshipType.STATIC,
        relationship: { case: relationship.case, value: toJson(Identity_StaticKeysSchema, relationship.value) },
        issuer: relationship.value.issuer,
        subject: relationship.value.subject,
      };
    case "awsIdentity":
      return {
        relationshipType: RelationshipType.AWS_IDENTITY,
        relationship: { case: relationship.case, value: toJson(Identity_AWSIdentitySchema, relationship.value) },
        issuer: "",
        subject: "",
      };
    case "servicePrincipal":
      return {
        relationshipType: RelationshipType.SERVICE_PRINCIPAL,
        relationship: { case: relationship.case, value: relationship.value },
        issuer: "",
        subject: "",
      };
    default:
      return {
        relationshipType: RelationshipType.UNSPECIFIED,
        relationship: { case: "", value: null },
        issuer: "",
        subject: "",
      };
  }
}

/** Converts a stored relationship to a message. */
export function fromColumns(stored: StoredRelationship): Relationship {
  const value = stored.value as JsonValue;
  switch (stored.case) {
    case "claimMatch":
      return { case: "claimMatch", value: fromJson(Identity_ClaimMatchSchema, value) };
    case "staticKeys":
      return { case: "staticKeys", value: fromJson(Identity_StaticKeysSchema, value) };
    case "awsIdentity":
      return { case: "awsIdentity", value: fromJson(Identity_AWSIdentitySchema, value) };
    case "servicePrincipal":
      return { case: "servicePrincipal", value: Number(value) as ServicePrincipal };
    default:
      return { case: undefined };
  }
}
