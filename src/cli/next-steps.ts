// The operator's next steps after `bootstrap`.
import { callbackPath } from "../sign-in/sign-in.ts";

/** The first owner, and the known facts about the future server. */
export interface FirstOwner {
  readonly issuer: string;
  readonly subject: string;
  /** Empty if it is not set yet. */
  readonly baseUrl: string;
  /** The issuer of the login provider; undefined if it is not set yet. */
  readonly loginIssuer: string | undefined;
}

/** Returns the next commands, with known values filled in, and the settings needed at the login provider. */
export function nextSteps({ issuer, subject, baseUrl, loginIssuer }: FirstOwner): string {
  const url = baseUrl === "" ? "BASE_URL" : baseUrl;
  const flags = [
    ...(baseUrl === "" ? ["--base-url BASE_URL"] : []),
    ...(loginIssuer === undefined ? [`--login-issuer ${issuer} --login-client-id CLIENT_ID`] : []),
  ];
  return [
    "",
    `Register this server as a client of ${loginIssuer ?? issuer}, with the redirect URI ${url}${callbackPath}.`,
    ...(loginIssuer === undefined ? ["Put its secret into GATEHOUSE_LOGIN_CLIENT_SECRET."] : []),
    `Then start the server with the settings of this command, and sign in as ${subject}:`,
    "",
    `  ${["gatehouse serve", ...flags].join(" ")}`,
    `  gatehouse auth login --url ${url}`,
    "",
    ...(loginIssuer === undefined || loginIssuer === issuer ? [] : [otherIssuer(issuer, loginIssuer)]),
  ].join("\n");
}

function otherIssuer(issuer: string, loginIssuer: string): string {
  return (
    `warning: people sign in at ${loginIssuer}, but the owner is a user of ${issuer}: a sign-in makes nobody the owner.\n` +
    "The owner has to exchange a token of that issuer (docs/operate/deploy.md).\n"
  );
}
