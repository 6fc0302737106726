/** The audiences of an outside token that names none of an identity's choice: it must be meant for us (security case X10). */
export function defaultAudiences(issuer: string): string[] {
  return [issuer, issuer.replace(/^https?:\/\//, "")];
}
