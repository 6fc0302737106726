// The setup of each page before its commands run.
import { readFileSync } from "node:fs";
import path from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { launcher } from "../cli/process.ts";
import type { newBareShell } from "../harness/bare-shell.ts";
import type { Browser } from "../harness/browser.ts";
import { newPostgresDatabase } from "../harness/postgres.ts";
import { startRealProvider } from "../sign-in/real-provider.ts";
import { certificate, certificateKey } from "../transport/certificate.ts";
import { gitHubRunner, type Platforms, startPlatforms } from "./platforms.ts";

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
  /** The workload that runs the jobs of the page. */
  readonly workload?: Workload;
  /** Tells a browser's provider who the person is. */
  readonly signIn?: (browser: Browser, person: string) => void;
}

/** A workload on its platform. */
interface Workload {
  /** The variables of its jobs, in addition to those of the shell. */
  readonly environment: Readonly<Record<string, string>>;
  /** The programs that its container has in addition. */
  readonly programs?: Parameters<typeof newBareShell>[0];
  /** Returns its token for an audience. */
  issue(audience: string): Promise<string>;
}

/** The free port that takes the place of one on the page. */
export type PortOf = (shown: number) => Promise<number>;

type Setup = (portOf: PortOf, running: AsyncDisposableStack, platforms?: Platforms) => PageSetup | Promise<PageSetup>;

const withServer: Setup = () => ({ hasServer: true });
const withoutServer: Setup = () => ({ hasServer: false });

/** A script in the place of `docker login`, which asks for a token as the real one does. */
const docker = `read -r password
curl -sS -f -o /dev/null -u "$4:$password" "$GATEHOUSE_URL/token?service=$2&account=$4&client_id=docker&offline_token=true"
echo Login Succeeded
`;

/** A script in the place of Buildkite's agent. */
const buildkiteAgent = `[ "$1 $2" = "oidc request-token" ]
shift 2
query=
while [ $# -gt 0 ]; do
  case $1 in
    --audience) query="$query&audience=$2" ;;
    --claim) query="$query&claim=$2" ;;
    *) exit 1 ;;
  esac
  shift 2
done
curl -sS -f -X POST "https://agent.buildkite.com/v3/oidc/tokens?$query"
`;

/** A script that runs the program. */
const runsProgram = `exec "${process.execPath}" "${launcher}" "$@"\n`;

const otherAzureObject = "0a1b2c3d-0000-4000-8000-0000000000ff";

/** Pages that start their own server. All others find one. */
const setups: Readonly<Record<string, Setup>> = {
  "README.md": withoutServer,
  "docs/console.md": withoutServer,
  "docs/install.md": withoutServer,
  "docs/first-steps.md": withoutServer,
  "docs/registry.md": withoutServer,
  "docs/testing.md": withPackage,
  "docs/operate/deploy.md": inProduction,
  "docs/integrations/aws.md": workload("AWS outbound federation", {
    stranger: { sub: "arn:aws:iam::123456789012:role/other" },
    real: ["base64", "tr"],
  }),
  "docs/integrations/azure.md": workload("Azure, version 1", {
    stranger: { sub: otherAzureObject, oid: otherAzureObject },
    audience: "api://0a1b2c3d-0000-4000-8000-000000000005",
  }),
  "docs/integrations/buildkite.md": workload("Buildkite", {
    stranger: {
      organization_id: "0184990a-477b-4fa8-9968-000000000999",
      pipeline_id: "0184990a-477b-4fa8-9968-000000000888",
    },
    standIns: { "buildkite-agent": buildkiteAgent },
  }),
  "docs/integrations/github-actions.md": workload("GitHub Actions", {
    stranger: { sub: "repo:acme@999/app@888:ref:refs/heads/main", repository_id: "888", repository_owner_id: "999" },
    environment: {
      ACTIONS_ID_TOKEN_REQUEST_URL: `https://${gitHubRunner.host}/idtoken?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: gitHubRunner.token,
    },
    standIns: { gatehouse: runsProgram },
  }),
  "docs/integrations/gitlab-ci.md": workload("GitLab", { stranger: { project_id: "888", namespace_id: "999" } }),
  "docs/integrations/google-cloud.md": workload("a Google service account", {
    stranger: { sub: "999999999999999999999", azp: "999999999999999999999" },
  }),
  "docs/integrations/grafana.md": () => ({
    hasServer: true,
    files: { "alerts.yml": readFileSync("deploy/prometheus/alerts.yml", "utf8") },
  }),
  "docs/integrations/kubernetes.md": workload("Kubernetes at oidc.eks.eu-west-1.amazonaws.com", {
    stranger: { sub: "system:serviceaccount:other:deployer" },
    replacements: [["/var/run/secrets/gatehouse", "mounted"]],
  }),
  "docs/integrations/kubernetes-apply.md": workload("Kubernetes at oidc.eks.eu-west-1.amazonaws.com", {
    stranger: { sub: "system:serviceaccount:other:deployer" },
    replacements: [
      ["/var/run/secrets/gatehouse", "mounted"],
      ["/files,", "files,"],
    ],
    standIns: { gatehouse: runsProgram },
  }),
  "docs/integrations/oidc-issuer.md": workload("Jenkins", { stranger: { sub: "https://ci.acme.example/job/other/" } }),
};

/** The parts in which workloads differ. */
interface WorkloadParts extends Pick<PageSetup, "replacements"> {
  /** The claims of the token in `token.jwt`, which has no signature: that of another workload. */
  readonly stranger: Readonly<Record<string, unknown>>;
  /** The audience that its rule asks for; the address of the server if it asks for none. */
  readonly audience?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly real?: readonly string[];
  readonly standIns?: Readonly<Record<string, string>>;
}

/** Returns a development server, and the platform of a kind of workload. */
function workload(kind: string, parts: WorkloadParts): Setup {
  const { stranger, audience, environment, replacements = [], real = [], standIns } = parts;
  return async (portOf, running, shared) => {
    const platforms = shared ?? running.use(await startPlatforms());
    const url = `http://127.0.0.1:${await portOf(8080)}`;
    const issue = (aud = url, changes = {}) => platforms.issue(kind, aud, changes);
    return {
      hasServer: true,
      settings: platforms.settings,
      files: {
        "token.jwt": (await issue(audience, stranger)).replace(/[^.]*$/, ""),
        "id-token": await issue(audience),
        "registry-token": await issue("registry.example.com"),
      },
      replacements: [["https://gatehouse.example.com", "http://127.0.0.1:8080"], ...replacements],
      workload: {
        environment: { ...platforms.environment, ...environment },
        programs: { real, standIns: { docker, ...standIns } },
        issue,
      },
    };
  };
}

/** The client package from its sources, which finds the program. The page starts its own emulators. */
function withPackage(): PageSetup {
  const program = JSON.stringify([process.execPath, launcher]);
  return {
    hasServer: false,
    replacements: [
      ["startEmulator()", `startEmulator({ command: ${program} })`],
      ["gatehouse-client/testing", path.resolve("packages/client/src/testing.ts")],
      ["gatehouse-client/node", path.resolve("packages/client/src/node.ts")],
      [
        "gatehouse-client/chainguard/platform/iam/v2beta1",
        path.resolve("gen/chainguard/platform/iam/v2beta1/groups_pb.ts"),
      ],
    ],
  };
}

/** PostgreSQL, a provider where people sign in, and a certificate. The page starts the server on port 8443. */
async function inProduction(portOf: PortOf, running: AsyncDisposableStack): Promise<PageSetup> {
  const trusted = getCACertificates("default");
  setDefaultCACertificates([...trusted, certificate]);
  running.defer(() => setDefaultCACertificates(trusted));
  const provider = running.use(await startRealProvider({ sendsIssuer: false, tls: true }));
  const secret = "only-for-this-test";
  const redirectUris = [`https://127.0.0.1:${await portOf(8443)}/oauth/callback`];
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
  return [withoutServer, withPackage, inProduction].includes(setups[file] ?? withServer);
}

/** Prepares what a page needs; what it starts is disposed of with `running`. */
export async function setUp(
  file: string,
  portOf: PortOf,
  running: AsyncDisposableStack,
  platforms?: Platforms,
): Promise<PageSetup> {
  return await (setups[file] ?? withServer)(portOf, running, platforms);
}
