import { expect, it } from 'vitest'
import type { EntityKind, IdentifierKind } from '#contract/records.ts'
import { normaliseIdentifier } from './identifiers.ts'

const read = (entity: EntityKind, kind: IdentifierKind, text: string) => {
  const outcome = normaliseIdentifier(entity, kind, text)
  return 'identifier' in outcome ? outcome.identifier.identifier : outcome.fault
}

it.each<[EntityKind, IdentifierKind, string, string]>([
  ['company', 'domain', ' HTTPS://www.Acme.com:8080/about?x=1 ', 'acme.com'],
  ['company', 'domain', 'acme.com.', 'acme.com'],
  ['company', 'domain', 'www.com', 'www.com'],
  ['company', 'domain', 'Bücher.example', 'xn--bcher-kva.example'],
  [
    'company',
    'linkedin_url',
    'https://de.linkedin.com/company/Acme-Inc/about/?x=1',
    'linkedin.com/company/acme-inc',
  ],
  ['person', 'linkedin_url', 'linkedin.com/in/J%C3%BCrgen/', 'linkedin.com/in/jürgen'],
  ['person', 'email', 'mailto:Ann@Acme.COM', 'ann@acme.com'],
  ['contact', 'external', 'HubSpot: 12Ab', 'hubspot:12Ab'],
])('a %s, %s %s is written %s', (entity, kind, text, expected) => {
  expect(read(entity, kind, text)).toBe(expected)
  expect(read(entity, kind, expected)).toBe(expected)
})

it.each<[EntityKind, IdentifierKind, string, RegExp]>([
  ['person', 'domain', 'acme.com', /a person is identified by email, linkedin_url, external, not by domain/],
  ['company', 'domain', 'acme', /must be a domain/],
  ['company', 'domain', 'ann@acme.com', /must be a domain/],
  ['company', 'domain', '127.0.0.1', /must be a domain/],
  ['company', 'linkedin_url', 'linkedin.com/in/ann', /must be the LinkedIn URL/],
  ['person', 'linkedin_url', 'linkedin.com.evil.com/in/ann', /must be the LinkedIn URL/],
  ['person', 'linkedin_url', 'linkedin.com/in/%E0%A4%A', /must be the LinkedIn URL/],
  ['person', 'email', 'ann at acme.com', /must be an email address/],
  ['person', 'email', 'a\0@acme.com', /must be an email address/],
  ['person', 'external', '42', /in the form source:id/],
  ['person', 'external', `crm:${'x'.repeat(500)}`, /at most 500 characters/],
])('a %s is not identified by %s %j', (entity, kind, text, fault) => {
  expect(read(entity, kind, text)).toMatch(fault)
})
