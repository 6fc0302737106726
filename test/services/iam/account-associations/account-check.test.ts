import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import {
  AccountAssociationSchema,
  AccountProviderType,
  CheckStatus,
} from "../../../../gen/chainguard/platform/iam/v2beta1/account_associations_pb.ts";
import {
  type CredentialExchange,
  checkReadiness,
  type Readiness,
} from "../../../../src/services/iam/account-associations/account-check.ts";

const association = create(AccountAssociationSchema, { name: "clouds", amazon: { account: "123456789012" } });
const { AMAZON, GOOGLE } = AccountProviderType;

const works: CredentialExchange = async (provider, { amazon }) => {
  assert.deepEqual([provider, amazon?.account], ["amazon", "123456789012"]);
};
const fails: CredentialExchange = async () => {
  throw new Error("the role does not trust this installation");
};

const cases: [
  rule: string,
  type: AccountProviderType,
  exchange: CredentialExchange | undefined,
  expected: Readiness,
][] = [
  ["credentials that can be had are ready", AMAZON, works, { status: CheckStatus.READY, reason: "", message: "" }],
  [
    "an exchange that fails says why",
    AMAZON,
    fails,
    {
      status: CheckStatus.NOT_READY,
      reason: "error exchanging credentials",
      message: "the role does not trust this installation",
    },
  ],
  [
    "without an exchange there are no credentials",
    AMAZON,
    undefined,
    {
      status: CheckStatus.NOT_READY,
      reason: "error exchanging credentials",
      message: "this installation does not support the exchange of amazon credentials",
    },
  ],
  [
    "an account that is not there is not tried",
    GOOGLE,
    works,
    {
      status: CheckStatus.NOT_READY,
      reason: "not configured",
      message: "the group has no associated google account; add one to its account association",
    },
  ],
];

describe("checkReadiness", () => {
  for (const [rule, type, exchange, expected] of cases) {
    it(rule, async () => assert.deepEqual(await checkReadiness(type, association, exchange), expected));
  }
});
