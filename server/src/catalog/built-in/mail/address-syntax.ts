import { domainToASCII } from 'node:url'

export type MailAddress = { local: string; /** The name in the form that DNS uses. */ domain: string }

const ATOM = /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u
const QUOTED = /^"(?:[^"\\\p{Cc}]|\\[^\p{Cc}])*"$/u
const LABEL = /^[a-z0-9_]([a-z0-9-_]{0,61}[a-z0-9])?$/i

/** Splits an address that mail servers accept, or returns the reason why it is not one. */
export function parseAddress(
  text: string,
): { ok: true; address: MailAddress } | { ok: false; reason: string } {
  const bare = text.trim().replace(/^mailto:/i, '')
  const at = bare.lastIndexOf('@')
  if (at < 1) return wrong('the address has no @ with a name before it')
  const local = bare.slice(0, at)
  if (Buffer.byteLength(local) > 64) return wrong('the part before @ is longer than 64 characters')
  if (!ATOM.test(local) && !QUOTED.test(local))
    return wrong('the part before @ has characters that are not allowed')
  const domain = domainToASCII(bare.slice(at + 1).replace(/\.$/, '')).toLowerCase()
  const labels = domain.split('.')
  if (domain === '' || domain.length > 253 || !labels.every((label) => LABEL.test(label)))
    return wrong('the part after @ is no domain')
  if (labels.length < 2 || /^\d+$/.test(labels.at(-1) ?? ''))
    return wrong('the part after @ is no domain with a dot')
  return { ok: true, address: { local, domain } }
}

const wrong = (reason: string) => ({ ok: false as const, reason })

const ROLES: ReadonlySet<string> = new Set(
  (
    'abuse accounting accounts accountspayable admin administration administrator all anfrage ask billing booking bookings buchhaltung ' +
    'career careers compliance contact contacto contactus contato customercare customerservice datenschutz dev devnull dpo editor ' +
    'empfang enquiries enquiry events everyone feedback finance ftp general gdpr hello help helpdesk hi hola hostmaster hr info ' +
    'information inquiries inquiry investors invoice invoices it jobs kontakt kundenservice legal list mail mailbox mailerdaemon ' +
    'mail-daemon mailer-daemon maildaemon management marketing media news newsletter nobody no-reply noc noreply no_reply office ' +
    'operations ops orders order partners partnerships payments payroll people personal post postmaster pr presse press privacy ' +
    'procurement purchasing rechnung reception recruiting recruitment register registrar reply returns root sales security service ' +
    'services shop spam staff subscribe support sysadmin system talent team tech techsupport test unsubscribe usenet uucp vertrieb ' +
    'webmaster welcome www'
  ).split(/\s+/),
)

/** Returns true if the address belongs to a function and not to a person. */
export function isRole(local: string): boolean {
  const name = local.toLowerCase().replace(/\+.*$/s, '')
  return ROLES.has(name) || ROLES.has(name.replaceAll('.', ''))
}
