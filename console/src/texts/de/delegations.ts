import type { texts as english } from "../en/delegations.ts";

export const texts: Readonly<Record<keyof typeof english, string>> = {
  "inactivity.lacks":
    "Dem Urheber {maker} fehlt inzwischen: {capabilities}{more, plural, =0 {} other { und # weitere}}.",
  "inactivity.extended":
    "Ihre Rolle hat mehr Fähigkeiten, als {maker} zugesagt hat: {capabilities}{more, plural, =0 {} other { und # weitere}}.",
  "inactivity.hidden": "Fähigkeiten, die Sie nicht sehen dürfen",
  "inactivity.deleted": "Die Identität des Urhebers wurde gelöscht.",
  "inactivity.unknown": "Der Urheber ist nicht bekannt.",
  "delegation.other": "Zusage",
  "delegation.invite": "Einladung",
  "delegation.subscription": "Abonnement",
  "delegation.defaultRole": "Standardrolle von",
  "delegation.scim": "SCIM-Token von",
  "delegation.mapping": "Gruppenzuordnung",
  "delegation.requestRule": "Regel für Anfragen",
  "delegation.review": "Überprüfung der Zugriffe",
  "delegation.keys": "Statische Schlüssel von",
  "delegation.anybody": "für alle mit dem Code",
  "delegation.revoke": "Einladung widerrufen",
  "delegation.revoke.title": "Einladung {name} widerrufen",
  "delegation.revoke.text": "Ihr Code ist danach nichts mehr wert. Wer sie angenommen hat, behält die Rolle.",
  "delegation.revoked": "Einladung widerrufen",
  "delegation.confirm": "Übernehmen",
  "delegation.confirm.title": "{name} übernehmen",
  "delegation.confirm.text":
    "Sie stehen statt des Urhebers dafür ein. Die Zusage gilt, solange Sie alles haben, was sie gibt.",
  "delegation.confirmed": "Übernommen",
  "delegation.kind": "Zusage",
  "delegation.place": "Gruppe",
  "delegation.force": "Geltung",
  "delegation.inForce": "gilt",
  "delegation.notInForce": "gilt nicht",
  "delegation.since": "Seit",
  "delegation.actions": "Aktionen",
  "delegation.lead":
    "Einladungen, Abonnements, Schlüssel und Rollen von Anmeldediensten, die gelten, solange ihr Urheber hat, was sie geben.",
  "delegation.none": "Nichts hängt hier von den Rechten von {name} ab.",
  "delegation.more": "Weitere zeigen",
};
