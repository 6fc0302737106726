import { Terms } from "../../gen/chainguard/platform/iam/v1/terms_pb.ts";
import { TermsService } from "../../gen/chainguard/platform/iam/v2beta1/terms_pb.ts";
import { same, serve, type V1Implementation } from "./adapter.ts";
import type { Today } from "./current-api.ts";
import { list } from "./lists.ts";

const [v1, now] = [Terms.method, TermsService.method];

/** Serves what was accepted as version 1 has it. */
export function terms(today: Today): V1Implementation {
  return serve(Terms, {
    acceptTerms: same(today, v1.acceptTerms, now.acceptTerms),
    listAccepted: list(today, v1.listAccepted, now.listTermsAcceptances, { itemNames: { accepted_at: "create_time" } }),
  });
}
