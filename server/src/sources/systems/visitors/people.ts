import { createHash } from 'node:crypto'
import { z } from 'zod'
import { bareHost } from '../../../catalog/questions/person-input.ts'
import { trimEnd } from '../../../lib/plain-text.ts'
import { defineReceiver } from '../../receive.ts'
import { unmasked } from '../../rows.ts'
import { defineShape } from '../../shape.ts'
import { activeDomain, cleanPage, cleanReferrer } from './site.ts'
import { addPage, pageFields } from './visits.ts'

const Text = z.string().nullable()

export const visitingPeople = defineShape({
  body: {
    active_domain: activeDomain,
    rb2b_key: z
      .string()
      .trim()
      .regex(
        /^[A-Za-z0-9]{6,40}$/,
        'must be the key in the script of your RB2B account, such as EN4M0HKQZJOM',
      )
      .describe(
        'The key in the script of your RB2B account; our script loads that script once the visitor agrees',
      )
      .optional(),
  },
  row: z.object({
    full_name: unmasked.nullable(),
    title: Text,
    company: Text,
    domain: Text,
    email: Text,
    linkedin_url: Text,
    industry: Text,
    location: Text,
    ...pageFields,
  }),
})

// Evidence: RB2B's help, "Formatting Your Custom RB2B Integration": names of fields, and which of them are never null.
const Sent = z.string().trim().max(2000).nullish()
const Rb2bDelivery = z.object({
  'LinkedIn URL': Sent,
  'First Name': Sent,
  'Last Name': Sent,
  Title: Sent,
  'Company Name': Sent,
  'Business Email': Sent,
  Website: Sent,
  Industry: Sent,
  City: Sent,
  State: Sent,
  'Seen At': Sent,
  Referrer: Sent,
  'Captured URL': z.string().trim().max(2000),
})

const Person = z.object({
  full_name: Text,
  title: Text,
  company: Text,
  domain: Text,
  email: Text,
  linkedin_url: Text,
  industry: Text,
  location: Text,
  url: z.string(),
  referrer: Text,
  visit: z.string(),
})
type Person = z.infer<typeof Person>

/**
 * Returns the person that RB2B identified on a page of the site, or null for another page. A delivery with a company
 * only is not a person.
 */
function readRb2b(sent: z.infer<typeof Rb2bDelivery>, site: string): Person | null {
  const url = cleanPage(sent['Captured URL'], site)
  const text = (value: string | null | undefined) => (value ? value : null)
  const join = (separator: string, ...parts: (string | null | undefined)[]) =>
    parts.filter(Boolean).join(separator) || null
  if (url === null || (!sent['LinkedIn URL'] && !sent['Business Email'])) return null
  return {
    full_name: join(' ', sent['First Name'], sent['Last Name']),
    title: text(sent.Title),
    company: text(sent['Company Name']),
    domain: bareHost(sent.Website ?? '') || null,
    email: text(sent['Business Email']?.toLowerCase()),
    linkedin_url: text(sent['LinkedIn URL']),
    industry: text(sent.Industry),
    location: join(', ', sent.City, sent.State),
    url,
    referrer: cleanReferrer(sent.Referrer ?? '', site),
    // A repeated delivery is the same visit.
    visit: createHash('sha256').update(JSON.stringify(sent)).digest('base64url'),
  }
}

export const rb2b = defineReceiver(visitingPeople, {
  from: { id: 'rb2b', name: 'RB2B' },
  posted: {
    way: 'webhook',
    schema: Rb2bDelivery,
    read: (sent, { body }) => readRb2b(sent, body.active_domain),
  },
  tag: ({ rb2b_key }) => ({ 'data-rb2b': rb2b_key ?? '' }),
  item: Person,
  visitOf: ({ visit }) => visit,
  keyOf: ({ linkedin_url, email }) => (linkedin_url ? trimEnd(linkedin_url.toLowerCase(), '/') : email),
  fold({ before, item: { url, referrer, visit: _visit, ...person }, at, isNewVisit }) {
    // A repeated delivery changes nothing.
    if (before !== null && !isNewVisit) return before
    const known = Object.entries(person).filter(([, value]) => value !== null)
    return {
      ...(before ?? person),
      ...Object.fromEntries(known),
      ...addPage(before, { url, referrer }, { at, isNewVisit }),
    }
  },
})
