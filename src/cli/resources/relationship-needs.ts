// What flags must say about who may assume an identity, so that a refusal names them and not the fields of the API.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isJsonObject } from "../../base/json.ts";
import { wrongUsage } from "../failure.ts";

interface Need {
  /** Any of these members will do. */
  readonly members: readonly string[];
  readonly flags: string;
}

const needs: Readonly<Record<string, { readonly noun: string; readonly needs: readonly Need[] }>> = {
  claimMatch: {
    noun: "a claim match",
    needs: [
      { members: ["issuer", "issuerPattern"], flags: "--identity-issuer or --identity-issuer-pattern" },
      { members: ["subject", "subjectPattern"], flags: "--subject or --subject-pattern" },
    ],
  },
  staticKeys: {
    noun: "an identity with keys",
    needs: [
      { members: ["issuer"], flags: "--identity-issuer" },
      { members: ["subject"], flags: "--subject" },
      { members: ["issuerKeys"], flags: "--issuer-keys" },
    ],
  },
  awsIdentity: {
    noun: "an AWS identity",
    needs: [
      { members: ["awsAccount"], flags: "--aws-account" },
      { members: ["arn", "arnPattern"], flags: "--aws-arn or --aws-arn-pattern" },
      { members: ["userId", "userIdPattern"], flags: "--aws-user-id or --aws-user-id-pattern" },
    ],
  },
};

/** Fails, in the words of the flags, when a relationship of which they have said a part lacks another. */
export function checkNeeds(kind: string, relationship: JsonValue | undefined): void {
  const needed = needs[kind];
  if (!needed || !isJsonObject(relationship)) return;
  const missing = needed.needs.filter(({ members }) => !members.some((member) => hasMember(relationship, member)));
  if (missing.length === 0) return;
  throw wrongUsage(`${needed.noun} also needs ${missing.map(({ flags }) => flags).join("; and ")}`);
}

/** In a file the names of the proto do as well. */
function hasMember(message: JsonObject, member: string): boolean {
  return Object.keys(message).some(
    (name) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()) === member,
  );
}
