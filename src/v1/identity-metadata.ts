import {
  Identities,
  IdentityMetadata_OnboardingQuestionsSchema,
  type IdentityMetadata as V1IdentityMetadata,
  IdentityMetadataSchema as V1IdentityMetadataSchema,
} from "../../gen/chainguard/platform/events/v1/identities_pb.ts";
import { IdentitiesService, IdentityMetadataSchema } from "../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { same, serve, type V1Implementation } from "./adapter.ts";
import type { Today } from "./current-api.ts";
import { correspond, fieldsOf } from "./fields.ts";

const person = correspond(V1IdentityMetadataSchema, IdentityMetadataSchema, {
  onboarding_questions: "",
  updatesOptIn: "updates_opt_in",
});
const answers = correspond(IdentityMetadata_OnboardingQuestionsSchema, IdentityMetadataSchema, {
  company_name: "company",
  providers: "",
});

/** Serves what callers say of themselves. Today their answers stand beside their names. */
export function identityMetadata(today: Today): V1Implementation {
  return serve(Identities, {
    updateMetadata: same(today, Identities.method.updateMetadata, IdentitiesService.method.updateIdentityMetadata, {
      names: { company_name: "company", updatesOptIn: "updates_opt_in" },
      request: ({ onboardingQuestions, ...message }: V1IdentityMetadata) => ({
        identityMetadata: {
          ...(onboardingQuestions && fieldsOf(answers.toNow(onboardingQuestions))),
          updatesOptIn: message.updatesOptIn,
        },
      }),
      reply: (metadata) => ({ ...fieldsOf(person.toV1(metadata)), onboardingQuestions: answers.toV1(metadata) }),
    }),
  });
}
