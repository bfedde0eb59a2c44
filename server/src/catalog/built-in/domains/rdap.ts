import { z } from 'zod'
import type { Egress } from '../../../lib/egress/egress.ts'

/**
 * The registration of a domain. `unknown` means that the registry does not have the domain, or that its top-level domain
 * has no RDAP.
 */
export type Registration =
  | {
      kind: 'found'
      registrar: string | null
      created: string | null
      expires: string | null
      nameservers: string[]
    }
  | { kind: 'unknown' }
  | { kind: 'unavailable'; message: string }

const Entity = z.looseObject({
  roles: z.array(z.string()).catch([]),
  vcardArray: z.unknown().optional(),
  handle: z.string().optional(),
})
const Domain = z.looseObject({
  events: z.array(z.looseObject({ eventAction: z.string(), eventDate: z.string() })).catch([]),
  entities: z.array(Entity).catch([]),
  nameservers: z.array(z.looseObject({ ldhName: z.string().catch('') })).catch([]),
})

/** Asks rdap.org, which redirects to the registry of the top-level domain. */
export async function lookUpRegistration(
  egress: Egress,
  domain: string,
  signal: AbortSignal,
): Promise<Registration> {
  const base = egress.baseUrl('rdap', 'https://rdap.org')
  const reply = await egress.fetch({
    url: `${base}/domain/${encodeURIComponent(domain)}`,
    headers: { accept: 'application/rdap+json, application/json' },
    timeoutMs: 20_000,
    maxBytes: 1_000_000,
    signal,
  })
  if (!reply.ok) return { kind: 'unavailable', message: reply.message }
  if (reply.status === 404 || reply.status === 400) return { kind: 'unknown' }
  if (reply.status >= 300) return { kind: 'unavailable', message: `RDAP answers HTTP ${reply.status}` }
  const json = await reply.json()
  const parsed = json.ok ? Domain.safeParse(json.value) : null
  if (parsed?.success !== true)
    return { kind: 'unavailable', message: 'RDAP sent a reply that is not a domain record' }
  const { events, entities, nameservers } = parsed.data
  const dateOf = (action: string) => toIso(events.find((event) => event.eventAction === action)?.eventDate)
  const registrar = entities.find(({ roles }) => roles.includes('registrar'))
  return {
    kind: 'found',
    registrar: registrar === undefined ? null : (nameIn(registrar.vcardArray) ?? registrar.handle ?? null),
    created: dateOf('registration'),
    expires: dateOf('expiration'),
    nameservers: nameservers
      .map(({ ldhName }) => ldhName.toLowerCase().replace(/\.$/, ''))
      .filter((name) => name !== ''),
  }
}

/** Returns the name in a jCard: ["vcard", [["fn", {}, "text", "Example Registrar"], ...]]. */
function nameIn(card: unknown): string | null {
  const properties: unknown = Array.isArray(card) ? card[1] : null
  if (!Array.isArray(properties)) return null
  const findValue = (name: string) =>
    properties.find(
      (property: unknown): property is unknown[] => Array.isArray(property) && property[0] === name,
    )?.[3]
  const text = [findValue('fn'), findValue('org')].find(
    (value) => typeof value === 'string' && value.trim() !== '',
  )
  return typeof text === 'string' ? text.trim() : null
}

function toIso(text: string | undefined): string | null {
  const date = new Date(text ?? '')
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}
