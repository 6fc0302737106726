// Fixed pages: probes, metrics, discovery document and key set.
import type { Logger } from "pino";
import { discoveryDocument, discoveryPath, keySetPath } from "../authn/discovery.ts";
import type { KeyRing } from "../authn/key-ring.ts";
import type { Config } from "../config/config.ts";
import { metricsContentTypes } from "../observe/metric-family.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { RegistrySigner } from "../registry/signer.ts";
import { isLocal, type PageReply, type Pages, publicJson, text } from "../transport/pages/pages.ts";
import { metricsFormatFor } from "./metrics-format.ts";
import { type Readiness, readinessProblem } from "./readiness.ts";

/** Returns the pages by path. */
export function pages(
  config: Config,
  readiness: Readiness,
  keys: KeyRing,
  signer: Pick<RegistrySigner, "certificate" | "jwks">,
  metrics: Metrics,
  log: Pick<Logger, "warn">,
): Pages {
  return {
    "/healthz": () => text(200, "ok"),
    "/readyz": () => readyPage(readiness, log),
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

async function readyPage(readiness: Readiness, log: Pick<Logger, "warn">): Promise<PageReply> {
  if (readiness.isStopping()) return text(503, "stopping");
  try {
    await readiness.check();
    return text(200, "ready");
  } catch (error) {
    log.warn({ err: error }, "not ready");
    return text(503, readinessProblem(error));
  }
}

/** The metrics page. Behind a local proxy every client looks local, so forwarded requests do not count as local. */
export function metricsPage(metrics: Metrics, readers: Config["metrics"]): Pages {
  const mayRead = { anyone: () => true, loopback: isLocal, nobody: () => false }[readers];
  return {
    "/metrics": async (request) => {
      if (!mayRead(request)) return text(403, "Forbidden");
      const format = metricsFormatFor(request.headers.accept);
      return { status: 200, contentType: metricsContentTypes[format], text: await metrics.text(format) };
    },
  };
}
