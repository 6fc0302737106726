// Tests the connection to identity providers.
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  IdentityProviderTestService,
  ProviderCheckOutcome,
  type TestIdentityProviderRequest,
  type TestIdentityProviderResponseSchema,
} from "../../../../gen/gatehouse/iam/v1/provider_tests_pb.ts";
import { notFound, rateLimited } from "../../../aip/errors.ts";
import { newFailureLimiter } from "../../../authn/failure-limiter.ts";
import { type Implementation, implement } from "../../../pipeline/handlers.ts";
import type { ServiceContext } from "../../../resource/service-context.ts";
import { providerResource } from "./identity-providers.ts";

/** The test of a provider, which the sign-in makes. */
export interface ProviderTesting {
  /** Tests the provider with this uid; undefined if there is none. Never rejects because of what the provider does. */
  readonly testProvider: (uid: string) => Promise<TestedProvider | undefined>;
}

/** The result of a test. */
export interface TestedProvider {
  readonly redirectUri: string;
  readonly checks: readonly {
    readonly name: string;
    readonly outcome: "passed" | "failed" | "skipped";
    readonly detail: string;
  }[];
}

const outcomes = {
  passed: ProviderCheckOutcome.PASSED,
  failed: ProviderCheckOutcome.FAILED,
  skipped: ProviderCheckOutcome.SKIPPED,
} as const;

/** How many providers are counted for the limit. */
const maxCounted = 10_000;

/** Serves the tests. */
export function providerTests(context: ServiceContext & ProviderTesting): Implementation {
  const tests = newFailureLimiter({ perSecond: 1, sources: maxCounted }, context.clock);
  const provider = providerResource(context);

  async function test({
    uid,
  }: TestIdentityProviderRequest): Promise<MessageInitShape<typeof TestIdentityProviderResponseSchema>> {
    // Each test sends requests to the server of an organization.
    if (tests.isSpent(uid)) throw rateLimited("one test of a provider runs per second", 1000);
    tests.spend(uid);
    const tested = await context.testProvider(uid);
    if (!tested) throw notFound(provider.type, uid);
    const { redirectUri, checks } = tested;
    return {
      passed: checks.every(({ outcome }) => outcome !== "failed"),
      checks: checks.map(({ name, outcome, detail }) => ({ name, outcome: outcomes[outcome], detail })),
      redirectUri,
    };
  }

  return implement(IdentityProviderTestService, { testIdentityProvider: test });
}
