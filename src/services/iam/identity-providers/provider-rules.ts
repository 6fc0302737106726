// The rules for identity providers.
import {
  type IdentityProvider,
  IdentityProvider_OIDCSchema,
} from "../../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import type { FieldViolation } from "../../../aip/errors.ts";
import { checkIssuer } from "../../../model/issuer-url.ts";
import type { MessageRules, TextRule } from "../../../pipeline/text-rules.ts";
import { checkVisible } from "../../../sts/claim-text.ts";

const maxScopes = 50;

/** The rules of single fields. */
export const oidcRules: MessageRules = {
  schema: IdentityProvider_OIDCSchema,
  fields: {
    client_id: printable(512),
    client_secret: printable(2048),
    // RFC 6749 §3.3: scope-token.
    additional_scopes: {
      test: (text) => /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/.test(text),
      description: "must be a scope of at most 256 characters without spaces, quotes and backslashes",
      pattern: "^[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,256}$",
      maxLength: 256,
    },
    groups_claim: {
      test: (text) => text.length <= 256 && checkVisible(text) === undefined,
      description:
        "must be at most 256 characters without control characters or marks that change the direction of text",
      maxLength: 256,
    },
  },
  bounds: { additional_scopes: { maxItems: maxScopes } },
};

/** Checks the configuration without reading the database. Returns the violations. */
export function checkProvider({ configuration }: IdentityProvider, allowInsecureIssuers: boolean): FieldViolation[] {
  if (configuration.case !== "oidc") return [{ field: "oidc", description: "oidc is required" }];
  const { issuer, additionalScopes } = configuration.value;
  const issuerProblem = issuer === "" ? undefined : checkIssuer(issuer, allowInsecureIssuers);
  return [
    ...violation("oidc.issuer", issuerProblem),
    ...violation(
      "oidc.additional_scopes",
      additionalScopes.length > maxScopes ? `must have at most ${maxScopes} scopes` : undefined,
    ),
  ];
}

/** RFC 6749 appendix A.1 and A.2: printable ASCII. */
function printable(length: number): TextRule {
  return {
    test: (text) => text !== "" && text.length <= length && /^[\x20-\x7e]*$/.test(text),
    description: `must be 1 to ${length} characters of printable ASCII`,
    pattern: "^[\\x20-\\x7e]+$",
    maxLength: length,
  };
}

function violation(field: string, description: string | undefined): FieldViolation[] {
  return description === undefined ? [] : [{ field, description }];
}
