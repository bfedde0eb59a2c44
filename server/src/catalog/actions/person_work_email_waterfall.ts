import { defineAction } from '../define.ts'
import type { ProviderOption } from '../field.ts'
import { field } from '../fields.ts'
import { output } from '../outputs.ts'

const builtIn = (id: string, name: string): ProviderOption => ({
  id,
  name,
  supportsOwnKey: false,
  requiresOwnKey: false,
})
const vendor = (id: string, name: string): ProviderOption => ({ ...builtIn(id, name), supportsOwnKey: true })

const FINDERS = [
  builtIn('built_in_pattern', 'Built-in pattern'),
  vendor('blitz', 'Blitz'),
  vendor('hunter', 'Hunter'),
  vendor('prospeo', 'Prospeo'),
  vendor('leadmagic', 'LeadMagic'),
  vendor('findymail', 'Findymail'),
  vendor('datagma', 'Datagma'),
  vendor('apollo', 'Apollo'),
  vendor('snov', 'Snov'),
  vendor('wiza', 'Wiza'),
  vendor('dropcontact', 'Dropcontact'),
  vendor('icypeas', 'Icypeas'),
]
const VERIFIERS = [
  builtIn('built_in', 'Built-in'),
  vendor('zerobounce', 'ZeroBounce'),
  vendor('neverbounce', 'NeverBounce'),
  vendor('millionverifier', 'MillionVerifier'),
  builtIn('none', 'None'),
]

export default defineAction({
  id: 'person_work_email_waterfall',
  name: 'Find work email',
  description:
    'Asks one provider after another for the work email of a person, until one answer is verified.',
  category: 'people',
  credits: 0,
  inputs: {
    full_name: field.text({ description: 'Needs company_domain beside it.' }),
    linkedin_url: field.text({ type: 'url', description: 'Enough alone.' }),
    company_domain: field.text({ description: 'Needs full_name beside it.' }),
    email_providers: field.waterfall({
      providers: FINDERS,
      default: ['blitz', 'hunter', 'prospeo', 'leadmagic', 'findymail', 'datagma', 'apollo', 'snov', 'wiza'],
      description: 'Who is asked, in order.',
    }),
    email_validation: field.waterfall({
      providers: VERIFIERS,
      default: ['built_in'],
      description: 'Who verifies an address that was found.',
    }),
    accept_catch_all: field.toggle({
      description: 'Take an address whose domain accepts every name as verified.',
    }),
  },
  needs: [['linkedin_url'], ['full_name', 'company_domain']],
  outputs: {
    work_email: output.email('The address.'),
    status: output.text('What its verification said.'),
    provider: output.text('Who found it.'),
    confidence: output.number('From 0 to 1.'),
  },
  // D66: a provider with neither a platform key nor a connection is passed over.
  run: ({ inputs }) => ({
    kind: 'no_match',
    provenance: inputs.email_providers.map(({ provider }) => ({
      provider,
      status: 'unconfigured',
      ms: 0,
      credits: 0,
    })),
  }),
})
