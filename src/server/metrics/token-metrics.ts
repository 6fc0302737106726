// The metrics of sign-ins, token exchanges and keys.
import { X509Certificate } from "node:crypto";
import { SecurityTokenService } from "../../../gen/chainguard/platform/oidc/oidc_pb.ts";
import type { KeyRing } from "../../authn/key-ring.ts";
import { newOutcomeCounts } from "../../base/outcome-counts.ts";
import type { Metrics } from "../../observe/metrics.ts";
import { isOwnFailure, type Observer } from "../../pipeline/observe.ts";
import type { TokenService } from "../token-service.ts";

const outcomes = ["issued", "denied", "failed"] as const;

/** Registers the metrics of sign-ins and signing keys, and returns an observer that counts how token exchanges end. */
export function measureTokens(
  metrics: Metrics,
  { signInCounts, refusedNameCounts }: Pick<TokenService, "signInCounts" | "refusedNameCounts">,
  keys: Pick<KeyRing, "signingSince">,
): Observer {
  metrics.counters("gatehouse_sign_ins_total", "Sign-ins of people that ended.", "outcome", () => signInCounts);
  metrics.counters(
    "gatehouse_refused_names_total",
    "Tokens of workloads that matched a rule and were denied, because a name came with another id than the pinned one.",
    "reason",
    () => refusedNameCounts,
  );
  metrics.gauge(
    {
      name: "gatehouse_signing_key_creation_timestamp_seconds",
      help: "When the key that signs API tokens was made, in Unix time.",
      combined: "max",
    },
    () => {
      const time = keys.signingSince();
      return time === undefined ? undefined : time / 1000;
    },
  );
  const exchanges = newOutcomeCounts(outcomes);
  const refreshes = newOutcomeCounts(outcomes);
  metrics.counters("gatehouse_token_exchanges_total", "Token exchanges that ended.", "outcome", () => exchanges.counts);
  metrics.counters(
    "gatehouse_token_refreshes_total",
    "Exchanges of refresh tokens that ended.",
    "outcome",
    () => refreshes.counts,
  );
  const { exchange, exchangeRefreshToken } = SecurityTokenService.method;
  const byPath = new Map([
    [pathOf(exchange), exchanges],
    [pathOf(exchangeRefreshToken), refreshes],
  ]);
  return (_call, path, _durationMs, failure) =>
    byPath.get(path)?.count(failure === undefined ? "issued" : isOwnFailure(failure) ? "failed" : "denied");
}

function pathOf({ parent, name }: { readonly parent: { readonly typeName: string }; readonly name: string }): string {
  return `/${parent.typeName}/${name}`;
}

/** Registers when the certificate expires that `current` returns: PEM, or undefined without TLS. */
export function measureCertificate(metrics: Metrics, current: () => string | Buffer | undefined): void {
  metrics.gauge(
    {
      name: "gatehouse_tls_certificate_expiry_timestamp_seconds",
      help: "When the certificate of the port expires, in Unix time.",
      combined: "min",
    },
    () => {
      const certificate = current();
      return certificate === undefined ? undefined : Date.parse(new X509Certificate(certificate).validTo) / 1000;
    },
  );
}
