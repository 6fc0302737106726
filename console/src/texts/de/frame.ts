import type { texts as english } from "../en/frame.ts";

export const texts: Readonly<Record<keyof typeof english, string>> = {
  "palette.more": "Es gibt weitere Treffer. Geben Sie mehr vom Namen ein.",
  "palette.onPage": "auf dieser Seite",
  "palette.action": "Aktion",
  "palette.organization": "Organisation",
  "palette.newGroup": "Neue Gruppe",
  "palette.newIdentity": "Neue Identität",
  "palette.newInvite": "Jemanden einladen",
  "palette.newRole": "Neue Rolle",
  "palette.grant": "Zugriff gewähren",
  "palette.removeMember": "Aus der Organisation entfernen",
  "palette.newSubscription": "Neues Abonnement",
  "palette.copyAs": "Kopieren als …",
  "palette.keys": "Alle Tasten zeigen",
  "palette.scheme": "Farbschema wechseln",
  "palette.signOut": "Abmelden",
  "organizations.title": "Organisationen",
  "organizations.search": "Name oder uid",
  "organizations.pinned": "Angeheftet",
  "organizations.recent": "Zuletzt benutzt",
  "organizations.all": "Alle Organisationen ({count, number})",
  "organizations.found": "Was gefunden wurde",
  "organizations.more":
    "Die ersten {count, number} werden gezeigt. Geben Sie einen Teil des Namens ein, um andere zu finden.",
  "organizations.current": "offen",
  "organizations.pin": "{name} anheften",
  "owners.lead": "Diese Identitäten können Zugriff gewähren:",
  "owners.ask": "Fragen Sie einen Eigentümer von {organization}.",
  "find.button": "Meine Organisation finden",
  "find.help":
    "Gatehouse sucht die Organisation zur Domain Ihrer E-Mail-Adresse, wenn Ihr Anmeldedienst die Adresse bestätigt hat.",
  "find.none":
    "Zu Ihrer E-Mail-Adresse ist keine Organisation bekannt. Bitten Sie Ihren Administrator um eine Einladung, und nennen Sie Ihre uid.",
  "find.notEligible":
    "Ihr Anmeldedienst hat keine E-Mail-Adresse bestätigt, die zu einer Organisation gehört. Bitten Sie einen Eigentümer um eine Einladung, und nennen Sie Ihre uid.",
  "find.found": "Ihre Organisation ist {name}.",
  "find.request": "Eigentümer um Zugriff bitten",
  "find.requested":
    "Die Eigentümer wurden gefragt. Sie sehen die Organisation hier, sobald einer von ihnen Ihnen eine Rolle gewährt hat.",
};
