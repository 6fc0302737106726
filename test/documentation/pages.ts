// The setup of each page before its commands run.
import { readFileSync } from "node:fs";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import type { Browser } from "../harness/browser.ts";
import { newPostgresDatabase } from "../harness/postgres.ts";
import { startRealProvider } from "../sign-in/real-provider.ts";
import { shapes } from "../sts/workload-shapes.ts";
import { certificate, certificateKey } from "../transport/certificate.ts";
import { startWorkloadIssuer } from "./workload-issuer.ts";

/** The surroundings of a page. */
export interface PageSetup {
  /** Whether a development server listens on port 8080, with its data in `./data`. */
  readonly hasServer: boolean;
  /** Its settings, by their names in camelCase. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Variables of the shell. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Texts of the page, and what stands in their places when it is run. */
  readonly replacements?: readonly (readonly [shown: string, real: string])[];
  /** Files in the folder of the shell. */
  readonly files?: Readonly<Record<string, string>>;
  /** Tells a browser's provider who the person is. */
  readonly signIn?: (browser: Browser, person: string) => void;
}

/** The free port that takes the place of one on the page. */
export type PortOf = (shown: number) => number;

type Setup = (portOf: PortOf, running: AsyncDisposableStack) => PageSetup | Promise<PageSetup>;

const withServer: Setup = () => ({ hasServer: true });
const withoutServer: Setup = () => ({ hasServer: false });

/** Pages that start their own server. All others find one. */
const setups: Readonly<Record<string, Setup>> = {
  "README.md": withoutServer,
  "docs/console.md": withoutServer,
  "docs/install.md": withoutServer,
  "docs/first-steps.md": withoutServer,
  "docs/registry.md": withoutServer,
  "docs/operate/deploy.md": inProduction,
  "docs/integrations/aws.md": workload("AWS outbound federation", (token) => ({ files: { "id-token": token } })),
  "docs/integrations/github-actions.md": workload("GitHub Actions", (_token, issuer) => ({
    environment: {
      ACTIONS_ID_TOKEN_REQUEST_URL: `${issuer}/token?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: "of the job",
    },
  })),
  "docs/integrations/gitlab-ci.md": workload("GitLab", (token) => ({ environment: { GATEHOUSE_ID_TOKEN: token } })),
  "docs/integrations/google-cloud.md": workload(
    "a Google service account",
    (_token, issuer) => ({ replacements: [["http://metadata.google.internal", issuer]] }),
    "text",
  ),
  "docs/integrations/grafana.md": () => ({
    hasServer: true,
    files: { "alerts.yml": readFileSync("deploy/prometheus/alerts.yml", "utf8") },
  }),
  "docs/integrations/kubernetes.md": workload("Kubernetes at container.googleapis.com", (token) => ({
    files: { "projected-token": token },
    replacements: [["/var/run/secrets/gatehouse/token", "projected-token"]],
  })),
};

/**
 * Returns a development server, and a stand-in for the issuer of a kind of workload. `parts` adds what the workload finds in its
 * surroundings.
 */
function workload(
  kind: string,
  parts: (token: string, issuer: string) => Partial<PageSetup>,
  form: "json" | "text" = "json",
): Setup {
  return async (portOf, running) => {
    const { issuer, issue } = running.use(await startWorkloadIssuer(kind, form));
    const real = shapes.find(({ name }) => name === kind)!.claims.iss;
    const setup = parts(await issue(`http://127.0.0.1:${portOf(8080)}`), issuer);
    return { hasServer: true, ...setup, replacements: [[real, issuer], ...(setup.replacements ?? [])] };
  };
}

/** PostgreSQL, a provider where people sign in, and a certificate. The page starts the server on port 8443. */
async function inProduction(portOf: PortOf, running: AsyncDisposableStack): Promise<PageSetup> {
  const trusted = getCACertificates("default");
  setDefaultCACertificates([...trusted, certificate]);
  running.defer(() => setDefaultCACertificates(trusted));
  const provider = running.use(await startRealProvider({ sendsIssuer: false, tls: true }));
  const secret = "only-for-this-test";
  const redirectUris = [`https://127.0.0.1:${portOf(8443)}/oauth/callback`];
  provider.register({ clientId: "gatehouse", clientSecret: secret, redirectUris });
  return {
    hasServer: false,
    environment: { NODE_EXTRA_CA_CERTS: "chain.pem", GATEHOUSE_PRIVATE_ISSUER_NETWORKS: "127.0.0.0/8" },
    files: { "chain.pem": certificate, "key.pem": certificateKey },
    replacements: [
      ["https://gatehouse.example.com", "https://127.0.0.1:8443"],
      ["CLIENT_SECRET=…", `CLIENT_SECRET=${secret}`],
      ["https://login.example.com", provider.issuer],
      ["postgres://gatehouse@db.internal/gatehouse", await newPostgresDatabase()],
    ],
    signIn(browser, person) {
      provider.signIn(browser, person);
    },
  };
}

/** Reports whether a page starts a server of its own, or needs one with other settings. */
export function hasOwnServer(file: string): boolean {
  return [withoutServer, inProduction].includes(setups[file] ?? withServer);
}

/** Prepares what a page needs; what it starts is disposed of with `running`. */
export async function setUp(file: string, portOf: PortOf, running: AsyncDisposableStack): Promise<PageSetup> {
  return await (setups[file] ?? withServer)(portOf, running);
}
