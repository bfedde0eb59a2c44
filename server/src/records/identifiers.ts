import { domainToASCII } from 'node:url'
import type { EntityKind, IdentifierKind } from '#contract/records.ts'
import { isObject } from '../lib/json/object.ts'
import { normalizeText } from '../lib/plain-text.ts'
import type { Identifier } from './store/identifiers.ts'

/**
 * The kinds of identifiers of each kind of entity. A domain is shared by all people of a company, so it identifies none
 * of them.
 */
export const IDENTIFIED_BY: Record<EntityKind, readonly IdentifierKind[]> = {
  company: ['domain', 'linkedin_url', 'external'],
  person: ['email', 'linkedin_url', 'external'],
  contact: ['email', 'linkedin_url', 'external'],
}

const MAX_IDENTIFIER = 500

/** Normalises an identifier, or returns what is wrong with it. */
export function normaliseIdentifier(
  entity: EntityKind,
  kind: IdentifierKind,
  text: string,
): { identifier: Identifier } | { fault: string } {
  if (!IDENTIFIED_BY[entity].includes(kind)) {
    return { fault: `a ${entity} is identified by ${IDENTIFIED_BY[entity].join(', ')}, not by ${kind}` }
  }
  const trimmed = text.trim()
  if (trimmed.length > MAX_IDENTIFIER) return { fault: `must have at most ${MAX_IDENTIFIER} characters` }
  const identifier = isPrintable(trimmed) ? SPELLINGS[kind](trimmed, entity) : null
  return identifier === null || identifier.length > MAX_IDENTIFIER
    ? { fault: `must be ${EXPECTED[kind]}` }
    : { identifier: { kind: entity, identifierKind: kind, identifier } }
}

const EXPECTED: Record<IdentifierKind, string> = {
  domain: 'a domain or web address such as acme.com',
  linkedin_url:
    'the LinkedIn URL of such an entity, such as linkedin.com/in/ann or linkedin.com/company/acme',
  email: 'an email address',
  external: 'the id of the entity in another system, in the form source:id',
}

const SPELLINGS: Record<IdentifierKind, (text: string, entity: EntityKind) => string | null> = {
  domain: readDomain,
  linkedin_url: readLinkedinUrl,
  email: readEmail,
  external: readExternalId,
}

// oxlint-disable-next-line no-control-regex
const isPrintable = (text: string) => text.isWellFormed() && !/[\u0000-\u001F\u007F]/.test(text)

const HOST = /^(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$/

function readHost(text: string): string | null {
  const host = domainToASCII(text.toLowerCase().replace(/\.$/, ''))
  return HOST.test(host) ? host : null
}

function readDomain(text: string): string | null {
  const [address = ''] = text.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').split(/[/?#]/)
  return readHost(address.replace(/:\d+$/, ''))?.replace(/^www\.(?=.*\.)/, '') ?? null
}

function readEmail(text: string): string | null {
  const parts = /^(?:mailto:)?([^\s@<>"(),;:]+)@([^\s@]+)$/i.exec(text)
  const host = readHost(parts?.[2] ?? '')
  return parts === null || host === null ? null : `${(parts[1] ?? '').toLowerCase()}@${host}`
}

const PROFILE = {
  company: /^(company|school|showcase)$/,
  person: /^(in|pub)$/,
  contact: /^(in|pub)$/,
}

/**
 * Reads a LinkedIn URL. URLs of one profile vary in country, scheme, language and case, but not in the first two parts
 * of their path.
 */
function readLinkedinUrl(text: string, entity: EntityKind): string | null {
  const address = text.replace(/^https?:\/\//i, '').replace(/[?#].*$/s, '')
  const [host = '', type = '', name = ''] = address.split('/')
  if (!/^([a-z0-9-]+\.)?linkedin\.com$/i.test(host) || !PROFILE[entity].test(type.toLowerCase())) return null
  const slug = normalizeText(decode(name)?.trim() ?? '', 'NFC').toLowerCase()
  return slug && isPrintable(slug) && !/[\s/]/.test(slug)
    ? `linkedin.com/${type.toLowerCase()}/${slug}`
    : null
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    if (cause instanceof URIError) return null
    throw cause
  }
}

/** Reads an external id. Ids of other systems may differ by case only, so the case stays. */
function readExternalId(text: string): string | null {
  const parts = /^([a-z0-9][a-z0-9_.-]{0,63})\s*:\s*(\S.*)$/i.exec(text)
  return parts === null ? null : `${(parts[1] ?? '').toLowerCase()}:${parts[2]}`
}

/** Returns the text of an identifier from a column value. An id without a prefix belongs to the source itself. */
export function spellIdentifier(value: unknown, kind: IdentifierKind, source: string): string {
  const text = typeof value === 'string' ? value : isObject(value) ? '' : JSON.stringify(value)
  return kind === 'external' && !text.includes(':') ? `${source}:${text}` : text
}
