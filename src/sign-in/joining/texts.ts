// The texts of the page that asks whether a person joins an organization, in both languages of the console.
import type { Offer } from "./offers.ts";

/** The languages of the page. */
export type Language = "en" | "de";

/** The texts of one language. */
export interface Texts {
  readonly title: string;
  /** The sentence that explains the source of the offer. `name` is empty if it must not be shown. */
  readonly lead: (offer: Offer) => string;
  readonly organization: string;
  readonly unverified: string;
  readonly group: string;
  readonly role: string;
  readonly customRole: string;
  readonly maker: string;
  readonly provider: string;
  readonly asker: string;
  readonly program: (host: string) => string;
  readonly device: (code: string) => string;
  readonly console: string;
  readonly account: string;
  /** The data of the user that the organization sees. */
  readonly sees: string;
  readonly caution: string;
  readonly join: string;
  readonly notNow: string;
  readonly decline: string;
  /** The consequences of the answers. */
  readonly notNowMeans: string;
  readonly declineMeans: string;
}

const en: Texts = {
  title: "Join this organization?",
  lead: ({ source, isJoined }) => {
    if (source === "invite")
      return isJoined ? "An invite offers you another role." : "You are invited to an organization.";
    if (source === "provider" && isJoined)
      return "Your organization offers you the role of people who sign in with its provider.";
    return source === "provider"
      ? "You sign in with the login provider of an organization that you have not joined."
      : "An organization that you have not joined has given you a role. This sign-in is for it.";
  },
  organization: "Organization",
  unverified: "not verified, number",
  group: "Group",
  role: "Role",
  customRole: "a role that the organization has made",
  maker: "Invited by",
  provider: "Login provider",
  asker: "Asked by",
  program: (host) => `a program on this computer (${host})`,
  device: (code) => `another device, which shows the code ${code}`,
  console: "the console of this server",
  account: "You are",
  sees: "If you join, the organization sees your name and your e-mail address.",
  caution: "Join only if you have started this yourself and know who asks. Nothing has been accepted so far.",
  join: "Join",
  notNow: "Not now",
  decline: "Decline",
  notNowMeans: "Not now: nothing changes, and you are asked again.",
  declineMeans: "Decline: the roles that wait for you there are deleted, and so is an invite that is for one person.",
};

const de: Texts = {
  title: "Dieser Organisation beitreten?",
  lead: ({ source, isJoined }) => {
    if (source === "invite")
      return isJoined
        ? "Eine Einladung bietet Ihnen eine weitere Rolle an."
        : "Sie sind in eine Organisation eingeladen.";
    if (source === "provider" && isJoined)
      return "Ihre Organisation bietet Ihnen die Rolle der Personen an, die sich bei ihrem Anbieter anmelden.";
    return source === "provider"
      ? "Sie melden sich beim Anmeldedienst einer Organisation an, der Sie nicht beigetreten sind."
      : "Eine Organisation, der Sie nicht beigetreten sind, hat Ihnen eine Rolle gegeben. Diese Anmeldung gilt ihr.";
  },
  organization: "Organisation",
  unverified: "nicht geprüft, Nummer",
  group: "Gruppe",
  role: "Rolle",
  customRole: "eine Rolle, die die Organisation angelegt hat",
  maker: "Eingeladen von",
  provider: "Anmeldedienst",
  asker: "Gefragt von",
  program: (host) => `einem Programm auf diesem Computer (${host})`,
  device: (code) => `einem anderen Gerät, das den Code ${code} zeigt`,
  console: "der Konsole dieses Servers",
  account: "Sie sind",
  sees: "Wenn Sie beitreten, sieht die Organisation Ihren Namen und Ihre E-Mail-Adresse.",
  caution:
    "Treten Sie nur bei, wenn Sie dies selbst begonnen haben und wissen, wer fragt. Bisher wurde nichts angenommen.",
  join: "Beitreten",
  notNow: "Nicht jetzt",
  decline: "Ablehnen",
  notNowMeans: "Nicht jetzt: Nichts ändert sich, und Sie werden wieder gefragt.",
  declineMeans:
    "Ablehnen: Die Rollen, die dort auf Sie warten, werden gelöscht, ebenso eine Einladung, die für eine Person gilt.",
};

/** The texts by language. */
export const texts: Readonly<Record<Language, Texts>> = { en, de };

/** Returns the language that a browser prefers (RFC 9110 §12.5.4): English unless it wants German more. */
export function languageFor(acceptLanguage: string | undefined): Language {
  const wanted = (acceptLanguage ?? "").split(",").map((part) => {
    const [range = "", ...parameters] = part.trim().toLowerCase().split(";");
    const q = parameters
      .map((text) => /^ *q=([01](?:\.\d{0,3})?) *$/.exec(text)?.[1])
      .find((text) => text !== undefined);
    return { language: range.split("-")[0], weight: Number(q ?? 1) };
  });
  const weightOf = (language: Language) =>
    Math.max(0, ...wanted.filter((one) => one.language === language).map(({ weight }) => weight));
  return weightOf("de") > weightOf("en") ? "de" : "en";
}
