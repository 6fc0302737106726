import {
  Identities,
  IdentityMetadata_OnboardingQuestionsSchema,
  type IdentityMetadata as V1IdentityMetadata,
  IdentityMetadataSchema as V1IdentityMetadataSchema,
} from "../../gen/chainguard/platform/events/v1/identities_pb.ts";
import { IdentitiesService, IdentityMetadataSchema } from "../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { passThrough, serve, type V1Implementation } from "./adapter.ts";
import type { CurrentApi } from "./current-api.ts";
import { fieldsOf, mapMessages } from "./fields.ts";

const person = mapMessages(V1IdentityMetadataSchema, IdentityMetadataSchema, {
  onboarding_questions: "",
  updatesOptIn: "updates_opt_in",
});
const answers = mapMessages(IdentityMetadata_OnboardingQuestionsSchema, IdentityMetadataSchema, {
  company_name: "company",
  providers: "",
});

/** Serves the metadata of the calling identity. In the current message the answers are not nested. */
export function identityMetadata(api: CurrentApi): V1Implementation {
  return serve(Identities, {
    updateMetadata: passThrough(
      api,
      Identities.method.updateMetadata,
      IdentitiesService.method.updateIdentityMetadata,
      {
        names: { company_name: "company", updatesOptIn: "updates_opt_in" },
        request: ({ onboardingQuestions, ...message }: V1IdentityMetadata) => ({
          identityMetadata: {
            ...(onboardingQuestions && fieldsOf(answers.toCurrent(onboardingQuestions))),
            updatesOptIn: message.updatesOptIn,
          },
        }),
        response: (metadata) => ({ ...fieldsOf(person.toV1(metadata)), onboardingQuestions: answers.toV1(metadata) }),
      },
    ),
  });
}
