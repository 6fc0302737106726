// The pages beside the API: probes, metrics, and what verifiers of our tokens read.
import { discoveryDocument, discoveryPath, keySetPath } from "./authn/discovery.ts";
import type { KeyRing } from "./authn/keys.ts";
import type { Config } from "./config.ts";
import { isLocal, type Pages, publicJson, text } from "./doors/site.ts";
import type { Metrics } from "./observe/metrics.ts";
import type { Readiness } from "./readiness.ts";
import type { RegistrySigner } from "./registry/signer.ts";

/** The pages by path. */
export function pages(
  config: Config,
  readiness: Readiness,
  keys: KeyRing,
  signer: Pick<RegistrySigner, "certificate" | "jwks">,
  metrics: Metrics,
): Pages {
  return {
    "/healthz": () => text(200, "ok"),
    "/readyz": () =>
      readiness.isStopping() ? text(503, "stopping") : readiness.check().then(() => text(200, "ready")),
    ...(config.metricsListen === undefined && metricsPage(metrics, config.metrics)),
    [discoveryPath]: () => publicJson(discoveryDocument(config.baseUrl)),
    [keySetPath]: () => publicJson(keys.jwks()),
    "/token/certificate.pem": () => ({
      status: 200,
      contentType: "application/pem-certificate-chain",
      text: signer.certificate,
      maxAge: 300,
    }),
    "/token/jwks.json": () => publicJson(signer.jwks),
  };
}

/** The page of metrics. Through a proxy on this machine everybody would be local: what was forwarded is not. */
export function metricsPage(metrics: Metrics, readers: Config["metrics"]): Pages {
  const mayRead = { anyone: () => true, loopback: isLocal, nobody: () => false }[readers];
  return {
    "/metrics": async (request) =>
      mayRead(request)
        ? { status: 200, contentType: metrics.contentType, text: await metrics.text() }
        : text(403, "Forbidden"),
  };
}
