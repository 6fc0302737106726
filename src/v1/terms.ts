import { Terms } from "../../gen/chainguard/platform/iam/v1/terms_pb.ts";
import { TermsService } from "../../gen/chainguard/platform/iam/v2beta1/terms_pb.ts";
import { passThrough, serve, type V1Implementation } from "./adapter.ts";
import type { CurrentApi } from "./current-api.ts";
import { list } from "./lists.ts";

const [v1, current] = [Terms.method, TermsService.method];

/** Serves accepted terms in version 1. */
export function terms(api: CurrentApi): V1Implementation {
  return serve(Terms, {
    acceptTerms: passThrough(api, v1.acceptTerms, current.acceptTerms),
    listAccepted: list(api, v1.listAccepted, current.listTermsAcceptances, {
      itemNames: { accepted_at: "create_time" },
    }),
  });
}
